#include "http/response_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace penstock::http {
namespace {

void append_number(std::string& out, std::size_t number) {
  std::array<char, 20> digits{};  // of 2^64
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end.ptr);
}

bool is_control(char letter) noexcept {
  const auto code = static_cast<unsigned char>(letter);
  return (code < 0x20 && letter != '\t') || code == 0x7F;
}

void append_clean(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  out.append(text);
  std::replace_if(out.begin() + static_cast<std::ptrdiff_t>(start), out.end(), is_control, ' ');
}

// 1xx, 204 and 304 have neither a body nor a length.
bool may_have_body(unsigned status) noexcept {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace

std::string_view reason_phrase(unsigned status) noexcept {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

void append_response(std::string& out, const Response& response, std::string_view date,
                     ConnectionHeader connection_header, BodyPart body_part) {
  out.append("HTTP/1.1 ");
  append_number(out, response.status);
  out.push_back(' ');
  out.append(reason_phrase(response.status));
  out.append("\r\n");
  out.append(date);
  for (const auto& [name, value] : response.fields) {
    append_clean(out, name);
    out.append(": ");
    append_clean(out, value);
    out.append("\r\n");
  }
  const bool has_body = may_have_body(response.status);
  if (has_body) {
    out.append("Content-Length: ");
    append_number(out, response.body.size());
    out.append("\r\n");
  }
  if (connection_header == ConnectionHeader::Close) out.append("Connection: close\r\n");
  if (connection_header == ConnectionHeader::KeepAlive) out.append("Connection: keep-alive\r\n");
  out.append("\r\n");
  if (has_body && body_part == BodyPart::Sent) out.append(response.body);
}

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
