#include "replay/report/report_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace penstock::replay {
namespace {

constexpr std::string_view kReplaced = "\xEF\xBF\xBD";

std::string two_digits(std::int64_t number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1;
};

// The character at the front; empty when it is not UTF-8.
std::optional<Character> first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return Character{.code = lead};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return std::nullopt;
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return std::nullopt;
    code = code << 6U | (byte & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || is_surrogate) return std::nullopt;
  return Character{.code = code, .length = length};
}

bool is_printable(std::uint32_t code) {
  const bool is_control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
  const bool is_direction = code == 0x061C || (code >= 0x200B && code <= 0x200F) ||
                            (code >= 0x2028 && code <= 0x202E) ||
                            (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
  return !is_control && !is_direction;
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ' ');
  }
  return text;
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0 %";
  // of counts of log lines: far below 2^64 / 10 000
  const std::uint64_t hundredths = part * 10'000 / whole;
  if (hundredths == 0 && part > 0) return "< 0.01 %";
  return std::to_string(hundredths / 100) + "." +
         two_digits(static_cast<std::int64_t>(hundredths % 100)) + " %";
}

std::string per_mille_text(std::uint64_t per_mille) {
  std::string text = std::to_string(per_mille / 10);
  if (per_mille % 10 != 0) text += "." + std::to_string(per_mille % 10);
  return text + " %";
}

std::string time_text(Instant time) {
  const auto day = std::chrono::floor<Days>(time);
  const std::chrono::year_month_day date{std::chrono::sys_days{day.time_since_epoch()}};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  return std::to_string(static_cast<int>(date.year())) + "-" +
         two_digits(static_cast<unsigned>(date.month())) + "-" +
         two_digits(static_cast<unsigned>(date.day())) + " " + two_digits(clock.hours().count()) +
         ":" + two_digits(clock.minutes().count()) + ":" + two_digits(clock.seconds().count());
}

std::string duration_text(Duration duration) {
  struct Unit {
    std::int64_t seconds;
    std::string_view name;
  };
  constexpr std::array<Unit, 4> kUnits{{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  std::int64_t rest = std::chrono::floor<std::chrono::seconds>(duration).count();
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const auto& [seconds, name] = kUnits[i];
    if (rest < seconds && i + 1 < kUnits.size()) continue;
    std::string text = std::to_string(rest / seconds).append(" ").append(name);
    rest %= seconds;
    if (i + 1 < kUnits.size() && rest >= kUnits[i + 1].seconds) {
      text += " " + std::to_string(rest / kUnits[i + 1].seconds) + " ";
      text.append(kUnits[i + 1].name);
    }
    return text;
  }
  return {};
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::optional<Character> one = first_character(text);
    const std::size_t length = one ? one->length : 1;
    out.append(one && is_printable(one->code) ? text.substr(0, length) : kReplaced);
    text.remove_prefix(length);
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += letter;
    }
  }
  return out;
}

}  // namespace penstock::replay
