#pragma once

#include "base/deadline.hpp"
#include "core/named_check.hpp"
#include "core/permit_set.hpp"
#include "penstock/decision.hpp"
#include "penstock/time.hpp"
#include "store/answered.hpp"
#include "store/operator_store.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The stores by role: limits, counters, permits; reservations are in reservation_store.hpp,
// overrides and the action log in operator_store.hpp.
namespace penstock::store {

using Decisions = std::vector<Decision>;

// Usage of limits. Each event loop has a LimitStore of its own, in front of shared usage.
//
// Thread-safety: none; everything happens on one event loop.
class LimitStore {
 public:
  LimitStore() = default;
  LimitStore(const LimitStore&) = delete;
  LimitStore& operator=(const LimitStore&) = delete;
  virtual ~LimitStore() = default;

  // All or nothing: all limits pass, or none is charged. Answers one decision per check, in order.
  // A name that appears several times is charged for all of them; the sum must fit each quota.
  // REQUIRES: there is at least one check.
  virtual void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                     Answered<Decisions> answered) = 0;
  // The same without a wait. Returns false, and charges nothing, when the answer takes a call: then
  // use check(). Takes pointers so that checks are not copied.
  [[nodiscard]] virtual bool try_check(std::span<const core::NamedCheck* const> /*checks*/,
                                       std::span<Decision> /*decisions*/) {
    return false;
  }
  // The same for one subject under a limit without a name.
  [[nodiscard]] virtual std::optional<Decision> try_check(std::string_view /*subject*/,
                                                          const Quota& /*quota*/, Cost /*cost*/) {
    return std::nullopt;
  }
  // Answers the state of each limit afterwards. REQUIRES: there is at least one check.
  virtual void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                      Answered<Decisions> answered) = 0;
  // Answers whether any usage existed.
  virtual void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
                     Answered<bool> answered) = 0;
  // Denies all requests under these names for this time; zero unblocks. Answers whether any name
  // was blocked before.
  virtual void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
                     Answered<bool> answered) = 0;
};

// Decimals are counted in billionths (penstock/decimal.hpp).
enum class CounterKind : std::uint8_t { Integer, Decimal };

// The counters of one name, each if it exists. `lifetime` is that of the one that expires last;
// empty when it never expires.
struct CounterValues {
  std::optional<std::int64_t> integer{};
  std::optional<std::int64_t> decimal{};
  std::optional<Duration> lifetime{};
};

enum class ExpireCondition : std::uint8_t { Always, IfPersistent };

// Atomic counters. A name has an integer and a decimal, which are independent.
//
// Thread-safety: none; everything happens on one event loop.
class CounterStore {
 public:
  CounterStore() = default;
  CounterStore(const CounterStore&) = delete;
  CounterStore& operator=(const CounterStore&) = delete;
  virtual ~CounterStore() = default;

  virtual void add(CounterKind kind, std::string name, std::int64_t delta,
                   std::optional<Duration> lifetime, base::Deadline deadline,
                   Answered<std::int64_t> answered) = 0;
  virtual void get(CounterKind kind, std::string name, base::Deadline deadline,
                   Answered<std::int64_t> answered) = 0;
  virtual void read_counter(std::string name, base::Deadline deadline,
                            Answered<CounterValues> answered) = 0;
  // Removes both counters of the name. Answers whether one existed.
  virtual void remove(std::string name, base::Deadline deadline, Answered<bool> answered) = 0;
  // Sets the lifetime of both counters, or only of those that never expire. Answers whether one was
  // changed.
  virtual void expire(std::string name, Duration lifetime, ExpireCondition condition,
                      base::Deadline deadline, Answered<bool> answered) = 0;
};

// One permit of a key.
struct PermitName {
  std::string key;
  std::string id;  // chosen by the caller; makes acquire() idempotent
};

// Holders of the permits of concurrency limits, see core::PermitSet.
//
// Thread-safety: none; everything happens on one event loop.
class PermitStore {
 public:
  static constexpr Duration kMaxLifetime = Days{1};  // of a permit, without renewal
  static constexpr Duration kDefaultLifetime = std::chrono::seconds{30};
  static constexpr std::int64_t kMaxPermits = 1'000'000;
  static constexpr std::size_t kMaxIdLength = 200;

  PermitStore() = default;
  PermitStore(const PermitStore&) = delete;
  PermitStore& operator=(const PermitStore&) = delete;
  virtual ~PermitStore() = default;

  // REQUIRES, here and below: 0 < lasts <= kMaxLifetime, 0 < limit <= kMaxPermits.
  virtual void acquire(PermitName permit, std::uint32_t limit, Duration lasts,
                       base::Deadline deadline, Answered<core::PermitResult> answered) = 0;
  virtual void renew(PermitName permit, Duration lasts, base::Deadline deadline,
                     Answered<core::PermitResult> answered) = 0;
  // Whether it was held.
  virtual void release(PermitName permit, base::Deadline deadline, Answered<bool> answered) = 0;
};

// The stores of one event loop, one per role.
struct Stores {
  LimitStore& limits;
  CounterStore& counters;
  PermitStore& permits;
  ReservationStore& reservations;
  OperatorStore& operators;
};

// What a node publishes with its heartbeat for pages of other nodes. Empty: the last one stays.
struct NodeReport {
  std::string summary{};
  std::string history{};
};
// The answer to a heartbeat.
struct FleetState {
  std::int64_t nodes = 1;   // live ones
  bool is_watched = false;  // a node reads the reports
};
enum class FleetPart : std::uint8_t { Summaries, SummariesAndHistories };
// The reports of all live nodes.
struct FleetReports {
  static constexpr std::size_t kMaxNodes = 100;

  std::vector<std::string> summaries{};
  std::vector<std::string> histories{};
};

// Of one server; in a cluster, the worst of all masters.
enum class BreakerState : std::uint8_t { Closed, HalfOpen, Open };

// State of the connection to a store, for /readyz and metrics. Known without a call.
struct StoreHealth {
  bool serving = true;
  std::string reason{};  // when not serving
  BreakerState breaker = BreakerState::Closed;
  std::uint64_t round_trips = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t fast_fails = 0;  // calls rejected because the circuit breaker was open
  std::uint64_t connects = 0;
  std::uint64_t script_loads = 0;
};

}  // namespace penstock::store
