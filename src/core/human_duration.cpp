#include "core/human_duration.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct ShownUnit {
  std::string_view name;
  std::string_view short_name;
  Duration length;
};

constexpr std::array kShownUnits{
    ShownUnit{"d", "d", Days{1}},           ShownUnit{"h", "h", hours{1}},
    ShownUnit{"min", "m", minutes{1}},      ShownUnit{"s", "s", seconds{1}},
    ShownUnit{"ms", "ms", milliseconds{1}}, ShownUnit{"µs", "µs", Duration{1}},
};

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
  for (const ShownUnit& unit : kShownUnits) {
    const std::int64_t count = wait / unit.length;
    wait %= unit.length;
    if (count == 0) continue;
    text += (text.empty() ? "" : " ") + std::to_string(count) + " " + std::string(unit.name);
  }
  return text;
}

}  // namespace

std::string rounded_up_text(Duration wait) {
  const Duration rounded = coarsened(wait);
  if (rounded == Duration{0}) return "0 s";
  if (rounded < seconds{1} || rounded >= minutes{1}) return in_units(rounded);
  return with_decimals(rounded / milliseconds{1}, 3) + " s";
}

std::string exact_text(Duration length) {
  for (const ShownUnit& unit : kShownUnits) {
    if (length % unit.length != Duration{0}) continue;
    return std::to_string(length / unit.length) + " " + std::string(unit.name);
  }
  return std::to_string(length.count()) + " µs";
}

std::string ruler_label(Duration offset, Duration step) {
  if (offset == Duration{0}) return "0";
  const ShownUnit* unit = kShownUnits.data();
  while (unit->length > step) ++unit;
  const Duration size = offset < Duration{0} ? -offset : offset;
  const std::int64_t hundredths =
      size / unit->length * 100 + (size % unit->length * 100 + unit->length / 2) / unit->length;
  return (offset < Duration{0} ? "-" : "+") + with_decimals(hundredths, 2) +
         std::string(unit->short_name);
}

}  // namespace penstock::core
