#pragma once

#include "core/lease.hpp"
#include "penstock/decision.hpp"
#include "redis_store/replay/state_codec.hpp"
#include "store/lease_source.hpp"

#include <cstdint>
#include <span>

namespace penstock::redis_store {

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
