#include "http/date_header.hpp"

#include <array>

namespace penstock::http {
namespace {

void append_two_digits(std::string& out, unsigned number) {
  out.push_back(static_cast<char>('0' + number / 10 % 10));
  out.push_back(static_cast<char>('0' + number % 10));
}

}  // namespace

void DateHeader::write(std::chrono::sys_seconds second) {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed",
                                                         "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(second - day);
  second_ = second;
  line_ = "Date: ";
  line_ += kDays.at(std::chrono::weekday(day).c_encoding());
  line_ += ", ";
  append_two_digits(line_, static_cast<unsigned>(date.day()));
  line_ += ' ';
  line_ += kMonths.at(static_cast<unsigned>(date.month()) - 1);
  line_ += ' ' + std::to_string(static_cast<int>(date.year())) + ' ';
  append_two_digits(line_, static_cast<unsigned>(time.hours().count()));
  line_ += ':';
  append_two_digits(line_, static_cast<unsigned>(time.minutes().count()));
  line_ += ':';
  append_two_digits(line_, static_cast<unsigned>(time.seconds().count()));
  line_ += " GMT\r\n";
}

}  // namespace penstock::http
