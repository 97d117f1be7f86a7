#include "wire/grpc/timeout.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace penstock::wire::grpc {

std::optional<Duration> parse_timeout(std::string_view text) noexcept {
  constexpr std::size_t kMostDigits = 8;
  if (text.size() < 2 || text.size() > kMostDigits + 1) return std::nullopt;
  std::uint32_t amount = 0;
  const char* const unit = text.data() + text.size() - 1;
  const auto [stop, failure] = std::from_chars(text.data(), unit, amount);
  if (failure != std::errc{} || stop != unit) return std::nullopt;
  switch (*unit) {
    case 'H': return std::chrono::hours{amount};
    case 'M': return std::chrono::minutes{amount};
    case 'S': return std::chrono::seconds{amount};
    case 'm': return std::chrono::milliseconds{amount};
    case 'u': return std::chrono::microseconds{amount};
    case 'n': return std::chrono::ceil<Duration>(std::chrono::nanoseconds{amount});
    default: return std::nullopt;
  }
}

}  // namespace penstock::wire::grpc
