#include "apps/penstock/duration_argument.hpp"

#include "apps/penstock/duration_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace penstock::app {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};

constexpr std::array kUnits{Unit{"ms", std::chrono::milliseconds{1}},
                            Unit{"s", std::chrono::seconds{1}}, Unit{"m", std::chrono::minutes{1}},
                            Unit{"h", std::chrono::hours{1}}, Unit{"d", Days{1}}};

std::optional<Duration> read(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc{} || count < 0) return std::nullopt;
  const std::string_view name(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& unit : kUnits) {
    if (name == unit.name && count <= Duration::max() / unit.length) return count * unit.length;
  }
  return std::nullopt;
}

}  // namespace

Result<Duration> parse_duration(std::string_view option, std::string_view text, Duration least,
                                Duration most) {
  const std::optional<Duration> duration = read(text);
  if (duration && *duration >= least && *duration <= most) return *duration;
  return Error{ErrorCode::InvalidInput, std::string(option) + " \"" + std::string(text) +
                                            "\": expected a time such as 250ms, 10s, 5m, 2h or " +
                                            "1d, from " + exactly(least) + " to " + exactly(most)};
}

}  // namespace penstock::app
