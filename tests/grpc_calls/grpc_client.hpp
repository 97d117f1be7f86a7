#pragma once

#include "http2_client/client_session.hpp"

#include <envoy/service/ratelimit/v3/rls.pb.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::grpc_calls {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using Entry = std::pair<std::string, std::string>;

inline constexpr std::string_view kShouldRateLimit =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
inline constexpr std::string_view kHealthCheck = "/grpc.health.v1.Health/Check";
inline constexpr std::string_view kHealthWatch = "/grpc.health.v1.Health/Watch";
inline constexpr std::string_view kReflection =
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

// The head of a call, as gRPC clients send it.
[[nodiscard]] inline http2_client::Fields head_of(std::string_view path,
                                                  const http2_client::Fields& more = {}) {
  http2_client::Fields fields{{":method", "POST"},          {":scheme", "http"},
                              {":path", std::string(path)}, {":authority", "ratelimit"},
                              {"te", "trailers"},           {"content-type", "application/grpc"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

[[nodiscard]] inline std::string framed(std::string_view message) {
  std::string bytes(1, '\0');
  for (const int shift : {24, 16, 8, 0}) {
    bytes += static_cast<char>(message.size() >> static_cast<unsigned>(shift) & 0xFFU);
  }
  return bytes += message;
}

// The messages in a response body.
[[nodiscard]] inline std::vector<std::string> messages_of(std::string_view body) {
  std::vector<std::string> messages;
  while (body.size() >= 5) {
    std::size_t size = 0;
    for (std::size_t i = 1; i < 5; ++i) size = size * 256 + static_cast<unsigned char>(body[i]);
    messages.emplace_back(body.substr(5, size));
    body.remove_prefix(std::min(body.size(), 5 + size));
  }
  return messages;
}

// Each inner list is a descriptor.
[[nodiscard]] inline RateLimitRequest request_of(
    const std::string& domain, const std::vector<std::vector<Entry>>& descriptors) {
  RateLimitRequest request;
  request.set_domain(domain);
  for (const std::vector<Entry>& entries : descriptors) {
    auto& descriptor = *request.add_descriptors();
    for (const auto& [key, value] : entries) {
      auto& entry = *descriptor.add_entries();
      entry.set_key(key);
      entry.set_value(value);
    }
  }
  return request;
}

[[nodiscard]] inline RateLimitResponse response_of(const http2_client::Answer& answer) {
  RateLimitResponse response;
  const std::vector<std::string> messages = messages_of(answer.body);
  if (messages.size() == 1) static_cast<void>(response.ParseFromString(messages[0]));
  return response;
}

}  // namespace penstock::grpc_calls
