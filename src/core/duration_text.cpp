#include "core/duration_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace penstock::core {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr std::array kUnits{Unit{"d", Days{1}}, Unit{"h", std::chrono::hours{1}},
                            Unit{"m", std::chrono::minutes{1}}, Unit{"s", std::chrono::seconds{1}},
                            Unit{"ms", std::chrono::milliseconds{1}}};

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc{} || count < 0 || text.starts_with('-')) return std::nullopt;
  const std::string_view name(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& unit : kUnits) {
    if (name == unit.name && count <= Duration::max() / unit.length) return count * unit.length;
  }
  return std::nullopt;
}

std::string duration_text(Duration duration) {
  for (const Unit& unit : kUnits) {
    if (duration >= unit.length && duration % unit.length == Duration{0}) {
      return std::to_string(duration / unit.length) + std::string(unit.name);
    }
  }
  return std::to_string(duration / std::chrono::milliseconds{1}) + "ms";
}

}  // namespace penstock::core
