#pragma once

#include "base/deadline.hpp"
#include "core/named_check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"
#include "store/permit_store.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::store {

// Where counts are kept, as the service asks for them; each event loop has a Store of its own, in
// front of counts that all of them share.
//
// An answer comes exactly once, on the event loop, perhaps before the call returns, and no later
// than a little after the deadline. A failure to ask is an Error: a store never decides what it
// means.
//
// Thread-safety: none; everything happens on one event loop.
class Store {
 public:
  template <class T>
  using Answered = std::function<void(Result<T>)>;
  using Decisions = std::vector<Decision>;

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // All pass, or nothing is taken from any. Answers the decision of each limit, in their order. A
  // name that appears several times is charged for all of them, and the sum must fit each quota.
  // REQUIRES: there is at least one.
  virtual void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                     Answered<Decisions> answered) = 0;
  // The same now, into as many decisions. False, and nothing is done, when an answer takes time:
  // then check() has to be asked. Checks stay where they are, so that nothing is copied.
  [[nodiscard]] virtual bool try_check(std::span<const core::NamedCheck* const> /*checks*/,
                                       std::span<Decision> /*decisions*/) {
    return false;
  }
  // Gives back; what every limit says afterwards. REQUIRES: as above.
  virtual void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                      Answered<Decisions> answered) = 0;
  // Whether anything had been used.
  virtual void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
                     Answered<bool> answered) = 0;
  // Refuses everything under these names for a while; zero unblocks. Whether any was blocked
  // before.
  virtual void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
                     Answered<bool> answered) = 0;

  // Counters: integers, and decimals as so many billionths (penstock/decimal.hpp).
  enum class CounterKind : std::uint8_t { Integer, Decimal };
  virtual void add(CounterKind kind, std::string name, std::int64_t delta,
                   std::optional<Duration> lifetime, base::Deadline deadline,
                   Answered<std::int64_t> answered) = 0;
  virtual void get(CounterKind kind, std::string name, base::Deadline deadline,
                   Answered<std::int64_t> answered) = 0;
  // Forgets the integer and the decimal of this name. Whether there was one.
  virtual void remove(std::string name, base::Deadline deadline, Answered<bool> answered) = 0;

  // Both numbers of a name, each if it is there, and how long the last of them has to live: empty
  // for as long as it is wanted.
  struct Counter {
    std::optional<std::int64_t> integer{};
    std::optional<std::int64_t> decimal{};
    std::optional<Duration> lifetime{};
  };
  virtual void read_counter(std::string name, base::Deadline deadline,
                            Answered<Counter> answered) = 0;
  // Both numbers of a name live so long from now on, or only those that had no end to it. Whether
  // there was one that does.
  enum class ExpireCondition : std::uint8_t { Always, IfPersistent };
  virtual void expire(std::string name, Duration lifetime, ExpireCondition condition,
                      base::Deadline deadline, Answered<bool> answered) = 0;

  // A single check of a subject without the name of a limit, by a store that need not ask anybody
  // for it; empty from one that has to, and then nothing was asked.
  [[nodiscard]] virtual std::optional<Decision> try_check(std::string_view /*subject*/,
                                                          const Quota& /*quota*/, Cost /*cost*/) {
    return std::nullopt;
  }

  // How the store is, for /readyz and metrics; what it knows already, without asking anybody.
  struct Health {
    bool serving = true;   // false while nobody can be asked
    std::string reason{};  // why, in words, when not serving
    std::uint64_t round_trips = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t fast_fails = 0;  // refused at once because a server was left alone for a while
    std::uint64_t connects = 0;
    std::uint64_t script_loads = 0;
    // Of a store that leases (lease::LeasingStore):
    std::uint64_t decided_by_lease = 0;   // limits, out of what was in hand
    std::uint64_t decided_by_denial = 0;  // requests, by what the store had said before
    std::uint64_t leases_asked = 0;
    std::uint64_t units_leased = 0;
    std::uint64_t leased_keys = 0;  // now
  };
  [[nodiscard]] virtual Health health() const = 0;

  // Reservations and permits of the same store, with the same promises.
  [[nodiscard]] virtual ReservationStore& reservations() = 0;
  [[nodiscard]] virtual PermitStore& permits() = 0;
};

}  // namespace penstock::store
