#pragma once

#include "penstock/clock.hpp"
#include "rules/model/rollout.hpp"
#include "service/answer.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace penstock::service {

// Whether usage has reached this share of the limit.
[[nodiscard]] bool is_near_limit(const Decision& decision, rules::BasisPoints share) noexcept;

// Subjects that have crossed `near_limit`, each until its usage has expired. Of bounded size: the
// entry of its set that expires first makes room, and its subject may be reported again.
//
// Thread-safety: none.
class NearLimitTable {
 public:
  static constexpr std::size_t kSubjects = 4096;  // 64 KiB

  // Whether the subject, given by a hash, is not in the table; it is then, until this time.
  [[nodiscard]] bool add(std::uint64_t subject, Instant now, Instant until);

 private:
  static constexpr std::size_t kWays = 4;
  struct Entry {
    std::uint64_t subject = 0;
    Instant until{};
  };

  std::vector<Entry> entries_{};  // kSubjects, from the first use on
};

// The subjects that any worker has reported.
//
// Thread-safety: all members, from any thread.
class SharedNearLimits {
 public:
  [[nodiscard]] bool add(std::uint64_t subject, Instant now, Instant until) {
    const std::lock_guard lock(mutex_);
    return table_.add(subject, now, until);
  }

 private:
  std::mutex mutex_;
  NearLimitTable table_;  // guarded by mutex_
};

// Counts and logs the first crossing of a rule's `near_limit` per subject and window. Each worker
// has its own table, so that a subject above the share takes the shared lock once.
//
// Thread-safety: none.
class NearLimits {
 public:
  // REQUIRES: all of them outlive it.
  NearLimits(telemetry::WorkerMetrics& metrics, telemetry::Log& log, SharedNearLimits& shared,
             const Clock& log_clock);

  // REQUIRES: the limit has a decision, and a rule with `near_limit`.
  void on_decision(const LimitAnswer& limit, const Clock& clock);
  void tick() { log_.tick(); }

 private:
  telemetry::WorkerMetrics& metrics_;
  telemetry::RateLimitedLog log_;  // of its own: it must not displace warnings
  SharedNearLimits& shared_;
  NearLimitTable table_;
};

}  // namespace penstock::service
