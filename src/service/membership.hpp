#pragma once

#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <atomic>
#include <cstdint>
#include <functional>

namespace penstock::service {

// How many nodes share the limits. Known from the configuration, or heard from the shared store;
// when that is gone, what was heard last stays true.
//
// Thread-safety: all members, from any thread.
class Membership {
 public:
  // `configured` of 0: to be heard; until then this node is alone.
  explicit Membership(unsigned configured = 0) noexcept
      : is_configured_(configured > 0), nodes_(configured > 0 ? configured : 1) {}

  [[nodiscard]] unsigned nodes() const noexcept {
    // relaxed: a number by itself; a share that is some instants old does no harm
    return nodes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_configured() const noexcept { return is_configured_; }
  // Changes nothing when the number is configured.
  void set_nodes(std::int64_t nodes) noexcept;

 private:
  bool is_configured_;
  std::atomic<unsigned> nodes_;
};

// This node's signs of life. Whoever owns it calls beat() every kInterval, on the event loop of the
// store that it is given.
//
// Thread-safety: none.
class Heartbeat {
 public:
  static constexpr Duration kInterval = std::chrono::seconds{1};
  // So many may be missed before a node counts as gone.
  static constexpr Duration kTtl = 5 * kInterval;

  // Gives the store a sign of life that lasts so long, and hears how many nodes have given one.
  // Zero takes the node away.
  using Send = std::function<void(Duration ttl, std::function<void(Result<std::int64_t>)>)>;

  // REQUIRES: `members` outlives every answer.
  Heartbeat(Membership& members, Send send) : members_(members), send_(std::move(send)) {}

  void beat();
  // Others then have a larger share at once, not after kTtl.
  void leave();

 private:
  Membership& members_;
  Send send_;
};

}  // namespace penstock::service
