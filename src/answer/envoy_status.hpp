#pragma once

#include "penstock/time.hpp"
#include "rules/model/request.hpp"
#include "service/answer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// A decision in the terms of Envoy's rate limit service, for POST /json and gRPC. Pure functions.
namespace penstock::answer {

// By their numbers in RateLimitResponse.RateLimit.Unit; a limit that travels with a request knows
// no week.
enum class EnvoyUnit : std::uint8_t { Unknown, Second, Minute, Hour, Day, Month, Year, Week };

[[nodiscard]] std::string_view to_string(EnvoyUnit unit) noexcept;
[[nodiscard]] std::optional<EnvoyUnit> parse_envoy_unit(std::string_view name) noexcept;
// Zero for Unknown.
[[nodiscard]] Duration length_of(EnvoyUnit unit) noexcept;
// Unknown for a period that is none of Envoy's: its clients then leave the window out.
[[nodiscard]] EnvoyUnit unit_of(Duration period) noexcept;
// A limit that travels with the request counts as the reference server does: by fixed windows. One
// of 0 denies; one above Quota::kMaxLimit is that. Fails without a unit that an override may have.
[[nodiscard]] Result<Quota> quota_of_override(std::uint32_t requests_per_unit, EnvoyUnit unit);

// The status of one descriptor.
struct EnvoyStatus {
  bool over_limit = false;
  const service::LimitAnswer* limit = nullptr;  // for current_limit; may be null
  std::uint32_t remaining = 0;          // as in header fields: the largest cost that would pass
  std::chrono::seconds until_reset{0};  // at least one, as Envoy drops the rest; 0: left out
};

// Descriptors that share a count have one limit in the answer, the first's. Whether there are such:
// then envoy_status() needs the request to find it for the others.
[[nodiscard]] bool shares_limits(const service::Answer& answer);

// `request`: the one that was answered, or null.
[[nodiscard]] EnvoyStatus envoy_status(const service::Answer& answer, std::size_t descriptor,
                                       const rules::Request* request);

}  // namespace penstock::answer
