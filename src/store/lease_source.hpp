#pragma once

#include "base/deadline.hpp"
#include "core/lease.hpp"
#include "core/named_check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace penstock::store {

// The outcome of strict leases granted in one epoch. Reported at most once: a second report would
// release units that another holder still has.
struct LeaseReport {
  std::int64_t epoch = 0;
  std::uint32_t spent = 0;
  std::uint32_t returned = 0;  // unspent

  friend bool operator==(const LeaseReport&, const LeaseReport&) = default;
};

// Units of a limit: for requests that wait, and a lease to spend later.
struct LeaseRequest {
  core::LimitKey name;
  Quota quota;
  // Strict only: requests that the store decides one after the other, as checks, before it grants a
  // lease. All cost the same.
  std::uint32_t cost = 0;
  std::uint32_t count = 0;
  core::LeaseAmounts lease{};
  // Of a strict lease, which the store accounts for in epochs of this length, until two of them
  // have ended. Empty: units are charged without an account.
  std::optional<Duration> strict_lifetime{};
  std::vector<LeaseReport> reports{};  // strict only; two at the most, of different epochs
};

struct LeaseGrant {
  std::uint32_t admitted = 0;  // of the requests that waited, those that came first
  std::uint32_t granted = 0;   // as a lease
  std::int64_t epoch = 0;      // of a strict lease
  // What was granted counts as used for this long from the request: until the window or
  // sub-window ends; for buckets, forever.
  Duration counts_for = Duration::max();
  // What the limit says afterwards: to a request that waited and was denied; else to one that needs
  // the requested units, when nothing was granted; else to a peek.
  Decision afterwards{};
  Cost denied_cost{1};  // what was denied, if `afterwards` denies
};

// Totals of a worker's leases, for metrics.
struct LeaseStats {
  std::uint64_t decided_by_lease = 0;   // limits
  std::uint64_t decided_by_denial = 0;  // requests denied by the denial cache
  std::uint64_t requests = 0;           // for leases
  std::uint64_t units_leased = 0;
  std::uint64_t leased_keys = 0;  // now
};

// Where leases come from.
//
// An answer comes exactly once for every question, on the event loop, never before the call
// returns. Unavailable and Overloaded mean that nothing was granted and no report was applied; any
// other error, that it is unknown.
//
// Thread-safety: none; everything happens on one event loop.
class LeaseSource {
 public:
  using OnGrant = std::function<void(std::size_t ask, const Result<LeaseGrant>& grant)>;

  LeaseSource() = default;
  LeaseSource(const LeaseSource&) = delete;
  LeaseSource& operator=(const LeaseSource&) = delete;
  virtual ~LeaseSource() = default;

  // REQUIRES: no name appears twice; algorithms are buckets or windows (core::can_lease).
  virtual void lease(std::vector<LeaseRequest> asks, base::Deadline deadline, OnGrant on_grant) = 0;
};

}  // namespace penstock::store
