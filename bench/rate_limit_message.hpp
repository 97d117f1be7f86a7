#pragma once

#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The two messages of Envoy's rate limit service (envoy.service.ratelimit.v3), encoded by hand:
// the request is assembled from constant parts, and only one number of the response is read.
namespace penstock::bench {

// One entry of a descriptor. The value "{key}" is replaced by the key of the request.
struct DescriptorPart {
  std::string name;
  std::string value;
};
using DescriptorPattern = std::vector<DescriptorPart>;

// "tenant=gold,remote_address={key}"
[[nodiscard]] Result<DescriptorPattern> parse_descriptor(std::string_view text);

// The limit in a request, in Envoy's units: per second, minute, hour or day, in fixed windows.
struct RequestLimit {
  std::uint32_t requests = 0;
  std::uint32_t unit = 0;  // its number in envoy.type.v3.RateLimitUnit

  [[nodiscard]] static Result<RequestLimit> of(const Quota& quota);
};

struct RateLimitRequestSpec {
  std::string domain;
  std::vector<DescriptorPattern> descriptors;
  std::optional<RequestLimit> limit{};  // of descriptors with a {key}
};

// Appends a RateLimitRequest.
void append_rate_limit_request(std::string& out, const RateLimitRequestSpec& request_spec,
                               std::string_view key);

enum class OverallCode : std::uint8_t { Unknown, Ok, OverLimit };
// Reads a RateLimitResponse. Fails for malformed input.
[[nodiscard]] Result<OverallCode> read_overall_code(std::string_view message);

}  // namespace penstock::bench
