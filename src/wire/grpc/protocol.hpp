#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names and numbers of gRPC over HTTP/2.
namespace penstock::wire::grpc {

// The gRPC status codes that we send.
enum class StatusCode : std::uint8_t {
  Ok = 0,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  ResourceExhausted = 8,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
};

// How a call ended.
struct Status {
  StatusCode code = StatusCode::Ok;
  std::string message{};  // for people; empty when Ok

  [[nodiscard]] bool ok() const noexcept { return code == StatusCode::Ok; }
};

// "12": a literal.
[[nodiscard]] std::string_view digits_of(StatusCode code) noexcept;
// The first digit of the equivalent HTTP status, for statistics.
[[nodiscard]] unsigned http_status_class(StatusCode code) noexcept;

// For grpc-message: printable ASCII except '%' is unchanged, other bytes are %XX.
[[nodiscard]] std::string percent_encoded(std::string_view message);

enum class Method : std::uint8_t { ShouldRateLimit, HealthCheck, HealthWatch, Reflection };

// By the path of the request.
[[nodiscard]] std::optional<Method> find_method(std::string_view path) noexcept;

// One message comes, and one answer goes: the others are streams.
[[nodiscard]] constexpr bool is_unary(Method method) noexcept {
  return method == Method::ShouldRateLimit || method == Method::HealthCheck;
}

// grpc-encoding: the compression of messages with the compressed flag.
enum class Encoding : std::uint8_t { Identity, Gzip, Unknown };
[[nodiscard]] Encoding parse_encoding(std::string_view grpc_encoding) noexcept;
// For grpc-accept-encoding.
inline constexpr std::string_view kAcceptedEncodings = "identity,gzip";

// "application/grpc" and its variants.
[[nodiscard]] bool is_grpc_type(std::string_view content_type) noexcept;

// The header field grpc-timeout: up to eight digits and a unit (H M S m u n). Rounded up to whole
// microseconds; empty for anything else.
[[nodiscard]] std::optional<Duration> parse_timeout(std::string_view text) noexcept;

}  // namespace penstock::wire::grpc
