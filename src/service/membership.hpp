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
  explicit Membership(unsigned configured = 0) noexcept
      : is_configured_(configured > 0), nodes_(configured > 0 ? configured : 1) {}

  [[nodiscard]] unsigned nodes() const noexcept {
    // relaxed: a single number; a stale share does no harm
    return nodes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_configured() const noexcept { return is_configured_; }
  // Changes nothing when the number is configured.
  void set_nodes(std::int64_t nodes) noexcept {
    if (is_configured_) return;
    // relaxed: see nodes()
    nodes_.store(static_cast<unsigned>(std::clamp<std::int64_t>(nodes, 1, kMaxNodes)),
                 std::memory_order_relaxed);
  }

 private:
  // More than any cluster has; a share is then one unit for most limits.
  static constexpr std::int64_t kMaxNodes = 1'000'000;

  bool is_configured_;
  std::atomic<unsigned> nodes_;
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
