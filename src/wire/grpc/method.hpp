#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::wire::grpc {

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

}  // namespace penstock::wire::grpc
