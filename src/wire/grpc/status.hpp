#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::wire::grpc {

// Of the gRPC protocol, those that we say.
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
// The first digit of the HTTP status that says about the same, for statistics.
[[nodiscard]] unsigned http_status_class(StatusCode code) noexcept;

// A message as grpc-message wants it: printable ASCII as it is, but '%'; the rest of UTF-8 as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view message);

}  // namespace penstock::wire::grpc
