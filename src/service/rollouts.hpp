#pragma once

#include "base/deadline.hpp"
#include "penstock/time.hpp"
#include "rules/model/ruleset.hpp"
#include "service/abort_window.hpp"
#include "service/answer.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace penstock::service {

// The requests of one worker that a rule with `abort` was enforced for.
//
// Thread-safety: one thread counts, any thread reads.
class RolloutCounter {
 public:
  enum class Outcome : std::uint8_t { Passed, Denied };
  void count(Outcome outcome) noexcept {
    // relaxed: the totals decide once a second, and need no order
    enforced_.fetch_add(1, std::memory_order_relaxed);
    if (outcome == Outcome::Denied) denied_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] RolloutTotals totals() const noexcept {
    return {.enforced = enforced_.load(std::memory_order_relaxed),
            .denied = denied_.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr std::size_t kCacheLine = 64;
  alignas(kCacheLine) std::atomic<std::uint64_t> enforced_{0};
  std::atomic<std::uint64_t> denied_{0};
};

// The state of a roll-out, for operators.
struct RolloutReport {
  std::string rule{};  // "api/search"
  rules::BasisPoints enforce = rules::kWhole;
  std::optional<rules::AbortCondition> abort{};
  bool aborted = false;
  Instant aborted_at{};
  RolloutTotals recent{};  // in the window of `abort`; of an aborted one, when it was aborted
};
// "api/search: 12.5% of 240 requests were denied within 1 min, more than 5%; the rule is in shadow
// mode until the rule changes or a restart". REQUIRES: it is aborted.
[[nodiscard]] std::string abort_text(const RolloutReport& report);

// The rules with `abort` of one Ruleset.
//
// Thread-safety: apply() and is_aborted() from any thread; the rest belongs to Rollouts.
class RolloutSet {
 public:
  RolloutSet(std::shared_ptr<const rules::Ruleset> rules, base::Deadline now);

  // Puts limits of aborted rules in shadow mode; the others that are enforced, and that no override
  // changes, get the counter of this worker, which is valid as long as the set.
  void apply(std::span<LimitAnswer> limits, std::size_t worker) noexcept;
  [[nodiscard]] bool is_aborted(const rules::Rule& rule) const noexcept;

 private:
  friend class Rollouts;
  static constexpr std::size_t kCounters = 16;  // more workers share them
  struct State {
    State(const rules::Rule& of, base::Deadline now) : rule(of), window(*of.rollout->abort, now) {}

    const rules::Rule& rule;
    std::array<RolloutCounter, kCounters> counters{};
    std::atomic<bool> aborted{false};
    // Guarded by Rollouts::mutex_:
    AbortWindow window;
    Instant aborted_at{};
  };
  [[nodiscard]] State* find(const rules::Rule* rule) const noexcept;
  // Takes over the aborts of rules that are the same in both sets.
  void keep_aborts(const RolloutSet& before);

  std::shared_ptr<const rules::Ruleset> rules_;
  std::vector<std::unique_ptr<State>> by_rule_;  // by Rule::index; null without `abort`
};

// The roll-outs of this node: counts over all workers, and aborts those that deny too much.
//
// Thread-safety: all members, from any thread.
class Rollouts {
 public:
  // REQUIRES: both outlive it.
  Rollouts(telemetry::Metrics& metrics, telemetry::Log& log) : metrics_(metrics), log_(log) {}

  // New rules, before the workers use them: roll-outs start again, except that an aborted one stays
  // aborted while its rule is the same. Files that change often, such as maps, cause reloads too.
  void use(std::shared_ptr<const rules::Ruleset> rules, base::Deadline now = base::monotonic_now());
  // For a worker that uses these rules. Null when no rule has `abort`, and when newer rules
  // have come: the worker gets those next.
  [[nodiscard]] std::shared_ptr<RolloutSet> find(const rules::Ruleset& rules) const;

  // About once a second. `time` is the time of day.
  void tick(base::Deadline now, Instant time);
  // Of all rules that are rolled out, also without `abort`.
  [[nodiscard]] std::vector<RolloutReport> report() const;

 private:
  [[nodiscard]] static RolloutReport report_of(const rules::Rule& rule,
                                               const RolloutSet::State* state);
  void set_metrics(const rules::Ruleset& of);

  telemetry::Metrics& metrics_;
  telemetry::Log& log_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::shared_ptr<const rules::Ruleset> rules_;
  std::shared_ptr<RolloutSet> set_;  // null when no rule has `abort`
};

}  // namespace penstock::service
