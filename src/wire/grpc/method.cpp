#include "wire/grpc/method.hpp"

namespace penstock::wire::grpc {

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

}  // namespace penstock::wire::grpc
