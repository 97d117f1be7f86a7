#pragma once

#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace penstock::service {

// How many nodes share the limits: configured, or reported by the shared store. While the store is
// unavailable, the last number stays.
//
// Thread-safety: all members, from any thread.
class Membership {
 public:
  // 0: reported by the store; one node until then.
  explicit Membership(unsigned configured = 0) noexcept { configure(configured); }

  // As in the constructor, except that the last number stays until the store reports another.
  void configure(unsigned nodes) noexcept {
    // relaxed: see nodes()
    is_configured_.store(nodes > 0, std::memory_order_relaxed);
    if (nodes > 0) nodes_.store(nodes, std::memory_order_relaxed);
  }

  [[nodiscard]] unsigned nodes() const noexcept {
    // relaxed: a single number; a stale share does no harm
    return nodes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_configured() const noexcept {
    return is_configured_.load(std::memory_order_relaxed);  // as above
  }
  // Changes nothing when the number is configured.
  void set_nodes(std::int64_t nodes) noexcept {
    if (is_configured()) return;
    // relaxed: see nodes()
    nodes_.store(static_cast<unsigned>(std::clamp<std::int64_t>(nodes, 1, kMaxNodes)),
                 std::memory_order_relaxed);
  }

 private:
  // More than any cluster has; a share is then one unit for most limits.
  static constexpr std::int64_t kMaxNodes = 1'000'000;

  std::atomic<bool> is_configured_{false};
  std::atomic<unsigned> nodes_{1};
};

// The heartbeat of this node. The owner calls beat() every kInterval, on the event loop of the
// store.
//
// Thread-safety: none.
class Heartbeat {
 public:
  static constexpr Duration kInterval = std::chrono::seconds{1};
  // Missed heartbeats before a node expires.
  static constexpr Duration kTtl = 5 * kInterval;

  // Sends a heartbeat with this lifetime; answers the number of live nodes. Zero removes the node.
  using Send = std::function<void(Duration ttl, std::function<void(Result<std::int64_t>)>)>;

  // REQUIRES: `members` outlives every answer.
  Heartbeat(Membership& members, Send send) : members_(members), send_(std::move(send)) {}

  void beat() {
    send_(kTtl, [members = &members_](const Result<std::int64_t>& nodes) {
      if (nodes) members->set_nodes(*nodes);
    });
  }
  // The other nodes get a larger share at once, not after kTtl.
  void leave() {
    send_(Duration{0}, [](const Result<std::int64_t>&) {});
  }

 private:
  Membership& members_;
  Send send_;
};

}  // namespace penstock::service
