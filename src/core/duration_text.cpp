#include "core/duration_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

namespace penstock::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Unit {
  std::string_view name;
  std::string_view shown;  // to people
  Duration length;
};
constexpr std::array kUnits{
    Unit{"d", "d", Days{1}},    Unit{"h", "h", hours{1}},          Unit{"m", "min", minutes{1}},
    Unit{"s", "s", seconds{1}}, Unit{"ms", "ms", milliseconds{1}}, Unit{"µs", "µs", Duration{1}},
};
// Configurations, options and calls have nothing below a millisecond.
constexpr std::span kWritten = std::span(kUnits).first<5>();

// Below each length, waits are rounded in whole multiples of the grain.
struct Precision {
  Duration below;
  Duration grain;
};

constexpr std::array kPrecisions{
    Precision{milliseconds{1}, Duration{1}},  Precision{seconds{10}, milliseconds{1}},
    Precision{minutes{1}, milliseconds{100}}, Precision{hours{1}, seconds{1}},
    Precision{Days{1}, minutes{1}},           Precision{Duration::max(), hours{1}},
};

Duration coarsened(Duration wait) {
  for (const Precision& precision : kPrecisions) {
    if (wait >= precision.below) continue;
    const Duration excess = wait % precision.grain;
    return excess == Duration{0} ? wait : wait - excess + precision.grain;
  }
  return wait;
}

std::string with_decimals(std::int64_t scaled, int decimals) {
  std::int64_t scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  std::string text = std::to_string(scaled / scale);
  std::string digits = std::to_string(scale + scaled % scale).substr(1);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return digits.empty() ? text : text + "." + digits;
}

std::string in_units(Duration wait) {
  std::string text;
  for (const Unit& unit : kUnits) {
    const std::int64_t count = wait / unit.length;
    wait %= unit.length;
    if (count == 0) continue;
    text += (text.empty() ? "" : " ") + std::to_string(count) + " " + std::string(unit.shown);
  }
  return text;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc{} || count < 0 || text.starts_with('-')) return std::nullopt;
  const std::string_view name(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& unit : kWritten) {
    if (name == unit.name && count <= Duration::max() / unit.length) return count * unit.length;
  }
  return std::nullopt;
}

std::string duration_text(Duration duration) {
  for (const Unit& unit : kWritten) {
    if (duration >= unit.length && duration % unit.length == Duration{0}) {
      return std::to_string(duration / unit.length) + std::string(unit.name);
    }
  }
  return std::to_string(duration / milliseconds{1}) + "ms";
}

std::string rounded_up_text(Duration wait) {
  const Duration rounded = coarsened(wait);
  if (rounded == Duration{0}) return "0 s";
  if (rounded < seconds{1} || rounded >= minutes{1}) return in_units(rounded);
  return with_decimals(rounded / milliseconds{1}, 3) + " s";
}

std::string exact_text(Duration length) {
  for (const Unit& unit : kUnits) {
    if (length % unit.length != Duration{0}) continue;
    return std::to_string(length / unit.length) + " " + std::string(unit.shown);
  }
  return std::to_string(length.count()) + " µs";
}

std::string ruler_label(Duration offset, Duration step) {
  if (offset == Duration{0}) return "0";
  const Unit* unit = kUnits.data();
  while (unit->length > step) ++unit;
  const Duration size = offset < Duration{0} ? -offset : offset;
  const std::int64_t hundredths =
      size / unit->length * 100 + (size % unit->length * 100 + unit->length / 2) / unit->length;
  return (offset < Duration{0} ? "-" : "+") + with_decimals(hundredths, 2) +
         std::string(unit->name);
}

}  // namespace penstock::core
