#pragma once

#include "base/deadline.hpp"
#include "penstock/clock.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace penstock::redis_store {

// Redis' clock: the time in a reply, carried on by the monotonic clock. The system clock before the
// first reply.
//
// A reply is older than its arrival. Of recent replies the one that travelled fastest counts, so
// that a time of day derived from an earlier reply does not move to an earlier time.
//
// Thread-safety: none; each event loop has its own.
class RedisClock final : public Clock {
 public:
  // Replies older than this do not count: clocks can be set, and a failover changes the server.
  static constexpr std::chrono::seconds kLifetime{10};

  // A script decided at `now`; its reply has just arrived.
  void on_reply(Instant now, base::Deadline arrived) noexcept {
    const Duration offset = now.time_since_epoch() - since_start(arrived);
    if (offset_ && offset < *offset_ && arrived - measured_ < kLifetime) return;
    offset_ = offset;
    measured_ = arrived;
  }

  [[nodiscard]] Instant now() const noexcept override { return at(base::monotonic_now()); }
  [[nodiscard]] Instant at(base::Deadline time) const noexcept {
    return offset_ ? Instant{*offset_ + since_start(time)} : system_clock().now();
  }

 private:
  static Duration since_start(base::Deadline time) noexcept {
    return std::chrono::floor<Duration>(time.time_since_epoch());
  }

  std::optional<Duration> offset_;  // from the monotonic clock
  base::Deadline measured_{};       // the offset
};

}  // namespace penstock::redis_store
