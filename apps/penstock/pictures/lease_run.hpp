#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <vector>

namespace penstock::app {

// Two nodes that lease units of one limit from one Redis (mode: lease), in virtual time.
struct LeaseRun {
  enum class Decided : std::uint8_t { Locally, ByRedis, Denied };
  struct Request {
    Duration at{};
    Decided decided{};
  };
  struct Call {
    Duration at{};
    Duration answered{};
    std::uint32_t granted = 0;  // units; 0: the check of one request
  };
  struct Level {
    Duration at{};
    std::uint32_t in_hand = 0;
  };
  struct Node {
    std::vector<Request> requests{};
    std::vector<Call> calls{};
    std::vector<Level> levels{};
  };

  std::vector<Node> nodes{};
};

inline constexpr Duration kLeaseRunEnd = std::chrono::milliseconds{400};
inline constexpr Duration kLeaseRoundTrip = std::chrono::milliseconds{2};

// 1000 requests per second.
[[nodiscard]] Quota leased_quota();
[[nodiscard]] LeaseRun run_leases();

}  // namespace penstock::app
