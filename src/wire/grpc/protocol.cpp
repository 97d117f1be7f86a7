#include "wire/grpc/protocol.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace penstock::wire::grpc {

std::string_view digits_of(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::Ok: return "0";
    case StatusCode::Unknown: return "2";
    case StatusCode::InvalidArgument: return "3";
    case StatusCode::DeadlineExceeded: return "4";
    case StatusCode::NotFound: return "5";
    case StatusCode::ResourceExhausted: return "8";
    case StatusCode::Unimplemented: return "12";
    case StatusCode::Internal: return "13";
    case StatusCode::Unavailable: return "14";
  }
  return "2";
}

unsigned http_status_class(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::Ok: return 2;
    case StatusCode::Unknown:
    case StatusCode::Internal:
    case StatusCode::Unavailable: return 5;
    default: return 4;
  }
}

std::string percent_encoded(std::string_view message) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  // It may contain input of the client, and a header that is too large is not sent at all.
  constexpr std::size_t kLongest = 1024;
  std::string text;
  for (const char letter : message.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0x20 && byte <= 0x7E && letter != '%') {
      text += letter;
    } else {
      text += {'%', kHex[byte / 16U], kHex[byte % 16U]};
    }
  }
  return text;
}

std::optional<Method> find_method(std::string_view path) noexcept {
  if (path == "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit") {
    return Method::ShouldRateLimit;
  }
  if (path == "/grpc.health.v1.Health/Check") return Method::HealthCheck;
  if (path == "/grpc.health.v1.Health/Watch") return Method::HealthWatch;
  if (path == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" ||
      path == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") {
    return Method::Reflection;  // the messages of both are the same but for their names
  }
  return std::nullopt;
}

Encoding parse_encoding(std::string_view grpc_encoding) noexcept {
  if (grpc_encoding.empty() || grpc_encoding == "identity") return Encoding::Identity;
  return grpc_encoding == "gzip" ? Encoding::Gzip : Encoding::Unknown;
}

bool is_grpc_type(std::string_view content_type) noexcept {
  constexpr std::string_view kType = "application/grpc";
  if (!content_type.starts_with(kType)) return false;
  content_type.remove_prefix(kType.size());
  if (content_type.starts_with("+proto")) content_type.remove_prefix(6);
  return content_type.empty() || content_type.starts_with(';') || content_type.starts_with(' ');
}

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
