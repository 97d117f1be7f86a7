#pragma once

#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The two messages of Envoy's rate limit service (envoy.service.ratelimit.v3) as far as a load
// generator needs them, written and read by hand: the request is put together from parts that never
// change, and of the answer one number is of interest.
namespace penstock::bench {

// One entry of a descriptor. Where the value is "{key}", the key of each request stands.
struct DescriptorPart {
  std::string name;
  std::string value;
};
using DescriptorPattern = std::vector<DescriptorPart>;

// "tenant=gold,remote_address={key}"
[[nodiscard]] Result<DescriptorPattern> parse_descriptor(std::string_view text);

// A limit in the units of Envoy, which travels with a request: so many in each second, minute, hour
// or day, in fixed windows.
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
// Of a RateLimitResponse; an error when it is none.
[[nodiscard]] Result<OverallCode> read_overall_code(std::string_view message);

}  // namespace penstock::bench
