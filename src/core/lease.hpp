#pragma once

#include "core/any_state.hpp"

#include <cstdint>

// Units of a count handed out ahead of the requests that will spend them. What the store decides
// about a lease, as pure functions. Twins: redis_store/lua; proofs: docs/explanation/guarantees.md.
namespace penstock::core {

// Buckets, and windows that begin and end: what is leased of them counts where it is spent.
[[nodiscard]] bool can_lease(Algorithm algorithm) noexcept;

// Units to lease, of those that are available.
struct LeaseAmounts {
  std::uint32_t need = 0;  // fewer are of no use: then nothing is granted
  std::uint32_t due = 0;   // that requests wait for; at least `need`
  std::uint32_t want = 0;  // no more than this; at least `due`
  std::uint32_t sharers =
      0;  // holders that lease parts of what is left; 0: all of it may be leased
};
// Beyond what is due, holders together lease no more than half of what is available, each no more
// than available / (2 * sharers).
[[nodiscard]] std::uint32_t portion(std::uint32_t available, const LeaseAmounts& amounts);

// Takes a portion() of what remains of the quota. Returns how much. `owner` is as in
// decide_under(). REQUIRES: can_lease().
[[nodiscard]] std::uint32_t take_up_to(AnyState& state, Quota& owner, const Quota& quota,
                                       std::uint32_t need, std::uint32_t want,
                                       std::uint32_t sharers, Instant now);
// The same for a key that is checked under one quota only.
[[nodiscard]] std::uint32_t take_up_to(AnyState& state, const Quota& quota, std::uint32_t need,
                                       std::uint32_t want, std::uint32_t sharers, Instant now);

// How long from `now` a unit that is taken now counts as used: until the window or sub-window ends;
// Duration::max() for buckets, where a lease ends by its own lifetime.
[[nodiscard]] Duration counts_for(const AnyState& state, const Quota& quota, Instant now);

// How long the windows are with which leased units are lost: a window or sub-window;
// Duration::max() for buckets.
[[nodiscard]] Duration lease_window(const Quota& quota);

// What is leased of a bucket and may yet be spent, by the epoch (instant / lifetime) of its grant:
// of the current one and the one before it. Leases are over when these two are.
struct Escrow {
  std::int64_t epoch = 0;
  std::uint32_t current = 0;
  std::uint32_t previous = 0;
  Duration lifetime{};  // that epochs are counted by; zero before the first lease

  [[nodiscard]] std::uint32_t leased() const noexcept { return current + previous; }

  friend constexpr bool operator==(const Escrow&, const Escrow&) = default;
};

// Refills the bucket up to now as far as the invariant allows, tokens + current + previous <=
// burst, and moves on to the epoch of now. Each stretch between two epochs is refilled with what
// was leased during it.
//
// Another lifetime than before counts from when it is safe: a longer one at once, with everything
// leased in its current epoch; a shorter one when nothing is leased any more. Until then
// escrow.lifetime stays, and leases are counted for longer than they live. The same when the clock
// steps back: the epoch stays, until it is more than 64 ahead. Returns whether this must be
// written even when nothing is granted. REQUIRES: the quota is a bucket; lifetime > 0.
bool advance(AnyState& state, Escrow& escrow, const Quota& quota, Duration lifetime, Instant now);

// Applies a report about leases of an epoch; one that has ended is ignored. REQUIRES: advanced to
// now.
void settle_report(AnyState& state, Escrow& escrow, const Quota& quota, std::int64_t epoch,
                   std::uint32_t spent, std::uint32_t returned, Instant now);

// What is asked of a bucket: to decide `count` requests that cost `cost` each, and a portion() of
// what is left then.
struct StrictLeaseRequest {
  std::uint32_t cost = 0;
  std::uint32_t count = 0;
  LeaseAmounts lease{};
};
struct StrictLeaseGrant {
  std::uint32_t admitted = 0;  // requests: those that came first
  std::uint32_t granted = 0;   // units, in the escrow of the current epoch

  friend constexpr bool operator==(const StrictLeaseGrant&, const StrictLeaseGrant&) = default;
};
// Requests that are admitted here are used up, and never in the escrow. While one of them is
// denied, nothing is leased. REQUIRES: advanced to now under `owner`.
[[nodiscard]] StrictLeaseGrant lease_strictly(AnyState& state, Quota& owner, Escrow& escrow,
                                              const Quota& quota, const StrictLeaseRequest& ask,
                                              Instant now);
[[nodiscard]] StrictLeaseGrant lease_strictly(AnyState& state, Escrow& escrow, const Quota& quota,
                                              const StrictLeaseRequest& ask, Instant now);

// What a reset leaves of an escrow: nothing is leased, and the epochs of leases that were granted
// before do not come again. Their reports are ignored, so that they cannot return units to a bucket
// that was filled without them.
[[nodiscard]] Escrow after_reset(const Escrow& escrow, Instant now);

// From this instant on the escrow says no more than an absent one. Later than the end of its
// epochs: what could be spent until then is missing from the bucket, and has to refill.
[[nodiscard]] Instant expires_at(const Escrow& escrow, const Quota& quota);

}  // namespace penstock::core
