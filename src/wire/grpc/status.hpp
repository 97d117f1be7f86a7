#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace penstock::wire::grpc
