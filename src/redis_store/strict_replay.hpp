#pragma once

#include "penstock/decision.hpp"
#include "redis_store/state_codec.hpp"
#include "store/lease_source.hpp"

#include <cstdint>
#include <span>

namespace penstock::redis_store {

// A bucket and its escrow, as lease_strict.lua found them: says what the script granted, and has
// what it wrote.
class StrictReplay {
 public:
  StrictReplay() = default;
  StrictReplay(KeyContent bucket, core::Escrow escrow)
      : bucket_(std::move(bucket)), escrow_(escrow) {}

  struct Ask {
    Quota quota;
    Duration lifetime{};
    std::uint32_t need = 0;
    std::uint32_t want = 0;
    std::uint32_t sharers = 1;
    std::span<const store::LeaseReport> reports{};
  };
  struct Answer {
    std::uint32_t granted = 0;
    std::int64_t epoch = 0;  // of what was granted
    Decision afterwards{};
    bool written = false;  // whether the script wrote anything
  };
  // A blocked key grants nothing, but hears reports.
  [[nodiscard]] Answer lease(const Ask& ask, Instant now);

  [[nodiscard]] const KeyContent& bucket() const { return bucket_; }
  [[nodiscard]] const core::Escrow& escrow() const { return escrow_; }

 private:
  KeyContent bucket_;
  core::Escrow escrow_;
};

}  // namespace penstock::redis_store
