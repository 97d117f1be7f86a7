#include "apps/penstock/text/time_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace penstock::app {

std::string utc_text(Instant time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  const auto number = [](auto part) { return static_cast<int>(part.count()); };
  std::array<char, 40> text{};
  const int size = std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d",
                                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                 static_cast<unsigned>(date.day()), number(clock.hours()),
                                 number(clock.minutes()), number(clock.seconds()));
  return {text.data(), static_cast<std::size_t>(std::clamp(size, 0, 39))};
}

}  // namespace penstock::app
