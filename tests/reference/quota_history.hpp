#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::reference {

// A store with two keys and a clock that the history sets.
class TwoKeys {
 public:
  enum class Key : std::uint8_t { Asked, Twin };

  TwoKeys() = default;
  TwoKeys(const TwoKeys&) = delete;
  TwoKeys& operator=(const TwoKeys&) = delete;
  virtual ~TwoKeys() = default;

  virtual void set_clock(Instant now) = 0;
  [[nodiscard]] virtual Decision check(Key key, const Quota& quota, Cost cost) = 0;
  // One peek under each quota.
  [[nodiscard]] virtual std::vector<Decision> peek(Key key, std::span<const Quota> quotas) = 0;
  virtual void refund(Key key, const Quota& quota, Cost cost) = 0;
  virtual void reset(Key key) = 0;
  // Zero duration removes the block.
  virtual void block(Key key, Duration duration) = 0;
};

// One key checked under several quotas in any order, and its twin, which receives only what must
// matter: admitted requests, refunds (under another quota), resets and blocks. Both must always
// show the same, so denials, peeks and the quota of a refund change nothing.
//
// Thread-safety: none.
class QuotaHistory {
 public:
  enum class Refunds : std::uint8_t { Some, None };

  // The clock moves forward from `start`, never beyond `latest`.
  QuotaHistory(TwoKeys& keys, std::vector<Quota> quotas, Instant start, Instant latest,
               Refunds refunds);

  // Performs the step drawn from this number. Returns the violation, if any.
  [[nodiscard]] std::string step(std::uint64_t draw);

  // Violations by admissions since the last reset. Buckets: in any interval no more than the
  // largest burst and the largest rate allow; windows: from each admission until its window ends,
  // no more than the largest limit. REQUIRES: no refunds; all quotas are buckets or all are
  // windows.
  [[nodiscard]] std::string envelope() const;

 private:
  struct Admitted {
    Instant at;
    std::uint64_t cost = 0;
    Instant counts_until{};  // of a window
  };

  void move_clock(const Quota& quota, std::uint64_t& draw);
  [[nodiscard]] Cost draw_cost(const Quota& quota, std::uint64_t& draw) const;
  [[nodiscard]] std::string act(std::size_t chosen, std::uint64_t& draw);
  [[nodiscard]] std::string ask(const Quota& quota, Cost cost);
  [[nodiscard]] std::string ask_and_count_denied(const Quota& quota, Cost cost);
  [[nodiscard]] std::string refund(const Quota& quota, const Quota& other, Cost cost);
  [[nodiscard]] std::string reset();
  void block(Duration duration);
  [[nodiscard]] std::string compare_keys();
  [[nodiscard]] bool is_blocked() const { return now_ < blocked_until_; }
  // Total usage, as the quota with the largest capacity shows it. REQUIRES: not blocked.
  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::string bucket_envelope() const;
  [[nodiscard]] std::string window_envelope() const;

  TwoKeys& keys_;
  std::vector<Quota> quotas_;
  std::size_t widest_ = 0;
  Refunds refunds_;
  Instant now_;
  Instant latest_;
  Instant blocked_until_{};
  Decision last_{};
  std::vector<Decision> fresh_;  // of an unused key
  std::vector<Decision> shown_;  // last seen for both keys
  std::vector<Admitted> admitted_;
  std::string story_;
};

}  // namespace penstock::reference
