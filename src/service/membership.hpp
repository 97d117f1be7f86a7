#pragma once

#include "penstock/time.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace penstock::service {

// How many nodes share the limits: configured, or reported by the shared store. While the store is
// unavailable, the last number stays.
//
// Thread-safety: all members, from any thread, unless they say otherwise.
class Membership {
 public:
  // 0: reported by the store; one node until then.
  explicit Membership(unsigned configured = 0) noexcept { configure(configured); }

  // As in the constructor, except that the last number stays until the store reports another.
  // REQUIRES: one thread at a time.
  void configure(unsigned nodes) noexcept {
    // relaxed: see nodes()
    const unsigned before = configured_.load(std::memory_order_relaxed);
    if (before > 0 && nodes == 0) reported_.store(before, std::memory_order_relaxed);
    configured_.store(nodes, std::memory_order_relaxed);
  }

  [[nodiscard]] unsigned nodes() const noexcept {
    // relaxed: each is used alone; a stale share does no harm
    const unsigned configured = configured_.load(std::memory_order_relaxed);
    return configured > 0 ? configured : reported_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_configured() const noexcept {
    return configured_.load(std::memory_order_relaxed) > 0;  // as above
  }
  // The number that the store reports. It has no effect while a number is configured.
  void set_nodes(std::int64_t nodes) noexcept {
    // relaxed: see nodes()
    reported_.store(static_cast<unsigned>(std::clamp<std::int64_t>(nodes, 1, kMaxNodes)),
                    std::memory_order_relaxed);
  }

 private:
  // More than any cluster has; a share is then one unit for most limits.
  static constexpr std::int64_t kMaxNodes = 1'000'000;

  std::atomic<unsigned> configured_{0};
  std::atomic<unsigned> reported_{1};
};

// Every node reports itself to the store.
struct Heartbeat {
  static constexpr Duration kInterval = std::chrono::seconds{1};
  // Missed heartbeats before a node expires.
  static constexpr Duration kTtl = 5 * kInterval;
};

}  // namespace penstock::service
