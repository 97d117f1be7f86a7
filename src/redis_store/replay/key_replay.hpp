#pragma once

#include "core/lease.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "redis_store/replay/state_codec.hpp"
#include "store/lease_source.hpp"

#include <cstdint>
#include <span>

namespace penstock::redis_store {

// One key, as a script found it: repeats the decisions of the script in the same order, with all
// the numbers that the script does not compute. The C++ twin of every script; differential tests
// compare both.
class KeyReplay {
 public:
  KeyReplay() = default;
  explicit KeyReplay(KeyContent content) : content_(std::move(content)) {}

  // Decides, and charges the cost when it allows.
  [[nodiscard]] Decision decide(const Quota& quota, Cost cost, Instant now);
  // Charges as much as is available, as core::take_up_to() does; nothing of a blocked key.
  [[nodiscard]] std::uint32_t take_up_to(const Quota& quota, std::uint32_t need, std::uint32_t want,
                                         std::uint32_t sharers, Instant now);
  // The result of decide(), without a charge.
  [[nodiscard]] Decision preview(const Quota& quota, Cost cost, Instant now) const;
  // How long a charge made now counts, as core::counts_for(); for an absent key, that of a first
  // charge.
  [[nodiscard]] Duration counts_for(const Quota& quota, Instant now) const;
  // Lowers the usage, whichever quota it was charged under.
  void refund(Cost cost, Instant now);

  [[nodiscard]] bool is_blocked(Instant now) const { return now < content_.blocked_until; }
  [[nodiscard]] Instant blocked_until() const { return content_.blocked_until; }
  void block_until(Instant until) { content_.blocked_until = until; }
  // Whether anything counts as used.
  [[nodiscard]] bool is_used(Instant now) const;

  [[nodiscard]] const KeyContent& content() const { return content_; }

 private:
  KeyContent content_;
};

// One limit of a multi-limit check, for core::decide_all().
struct ReplayedCheck {
  KeyReplay* replay = nullptr;
  const Quota* quota = nullptr;
  Cost cost;
  Cost pending{0};

  [[nodiscard]] const KeyReplay* key() const noexcept { return replay; }
  [[nodiscard]] Decision preview(Cost units, Instant now) const {
    return replay->preview(*quota, units, now);
  }
  [[nodiscard]] Decision decide(Instant now) const { return replay->decide(*quota, cost, now); }
};

// A bucket and its escrow, as lease_strict.lua found them: repeats the grants of the script, and
// has the states that it wrote.
class StrictReplay {
 public:
  StrictReplay() = default;
  StrictReplay(KeyContent bucket, core::Escrow escrow)
      : bucket_(std::move(bucket)), escrow_(escrow) {}

  struct Ask {
    Quota quota;
    Duration lifetime{};
    core::StrictLeaseRequest amounts{};
    std::span<const store::LeaseReport> reports{};
  };
  struct Answer {
    core::StrictLeaseGrant grant{};
    std::int64_t epoch = 0;  // of what was leased
    Decision afterwards{};
    Cost denied_cost{1};   // the denied cost, if `afterwards` denies
    bool written = false;  // whether the script wrote anything
  };
  // A blocked key grants nothing, but accepts reports.
  [[nodiscard]] Answer lease(const Ask& ask, Instant now);
  // As reset.lua leaves them. REQUIRES: the key is not blocked.
  void reset(Instant now);

  [[nodiscard]] const KeyContent& bucket() const { return bucket_; }
  [[nodiscard]] const core::Escrow& escrow() const { return escrow_; }

 private:
  KeyContent bucket_;
  core::Escrow escrow_;
};

}  // namespace penstock::redis_store
