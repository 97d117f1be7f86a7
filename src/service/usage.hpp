#pragma once

#include "penstock/decision.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <optional>

namespace penstock::service {

// The usage of one limit, for people and dashboards. docs/reference/http-api.md defines the
// members.
struct Usage {
  std::uint32_t limit = 0;
  std::optional<std::uint32_t> used{};  // empty while an operator blocks the key
  std::uint32_t remaining = 0;
  Duration reset_after{};
  // Until a request of cost 1 passes; empty when it never does. Of sliding algorithms the longest
  // possible wait: when the first of several units expires is not known.
  std::optional<Duration> retry_after{};
  // Thousandths of a unit per second, rounded up. Of windows: the average since the window began;
  // of sliding algorithms: that of the last period. Empty for buckets, whose state does not say
  // over which time it was used.
  std::optional<std::uint64_t> milliunits_per_second{};
  // When the window is used up at this rate, rounded down. Only of windows, and only if that is
  // before they end.
  std::optional<Duration> exhausted_after{};
};

// `peeked` is the decision for a cost of 0.
[[nodiscard]] Usage usage_of(const Quota& quota, const Decision& peeked);

}  // namespace penstock::service
