#pragma once

#include "base/deadline.hpp"
#include "service/answer.hpp"
#include "service/service_deps.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace penstock::service {

class ExpirySweep;
struct ReservationDeps;

// A reservation request, without its limits.
struct ReservationRequest {
  std::string id{};  // makes the call idempotent; generated when empty
  std::uint64_t estimate = 0;
  Duration lasts = std::chrono::minutes{1};
};

// The result of a reservation request.
struct ReserveResult {
  enum class Outcome : std::uint8_t {
    Decided,   // by the limits: see the answer
    Repeated,  // open since an earlier call
    Settled,   // one of this id was settled, or is open for another estimate or other limits
    Busy,      // an earlier call is in flight, or its daemon crashed
  };
  Outcome outcome = Outcome::Decided;
  Answer answer{};   // of Decided
  std::string id{};  // empty when nothing is reserved: denied, or allowed by the failure policy
  Duration left{};   // until it expires
  store::Reservation known{};  // of Repeated and Settled
};

// The result of a commit or a cancel.
struct SettleResult {
  enum class Outcome : std::uint8_t {
    Done,      // by this call or by an earlier identical one
    Unknown,   // never existed, or expired
    Conflict,  // an earlier call settled it differently
    Busy,      // not reserved yet, or expired and being refunded
  };
  Outcome outcome = Outcome::Done;
  store::ReservationState state = store::ReservationState::Pending;
  std::uint64_t estimate = 0;
  std::uint64_t actual = 0;
  // Units that did not fit the limits; empty while unknown, or forever if a daemon crashed.
  std::optional<std::uint64_t> uncharged{};
};

// Reservations, for costs that are known only afterwards: the estimate is charged like a check, and
// the actual cost is settled later. Every step is recorded in the store before it is done, so that
// only one of several callers does it. The RetryQueue repeats steps that the store did not answer.
// A daemon that crashes in between leaves units used until they expire; they are never refunded
// twice.
//
// Units are refunded only while they cannot have expired: otherwise they would come back twice, and
// more requests would pass than the limit allows.
//
// Thread-safety: none; everything happens on one event loop.
class Reservations {
 public:
  // Of expired reservations that are being refunded.
  static constexpr std::size_t kMaxExpiriesInFlight = 16;

  template <class T>
  using Answered = std::function<void(Result<T>)>;

  explicit Reservations(const ServiceDeps& deps);
  Reservations(const Reservations&) = delete;
  Reservations& operator=(const Reservations&) = delete;
  ~Reservations();

  // `undecided` has the limits, each with its cost for one unit. When the store fails, the units
  // are refunded and the failure policy decides. After an error, nothing is reserved.
  void reserve(Answer undecided, std::string domain, ReservationRequest reservation,
               base::Deadline deadline, Answered<ReserveResult> answered);
  void commit(std::string id, std::uint64_t actual, base::Deadline deadline,
              Answered<SettleResult> answered);
  void cancel(std::string id, base::Deadline deadline, Answered<SettleResult> answered);

  // About once a second: repeats steps that the store did not answer.
  void retry();
  // About once a second, on one event loop of each node: refunds expired reservations.
  void sweep();

 private:
  std::unique_ptr<ReservationDeps> deps_;
  std::shared_ptr<ExpirySweep> sweep_;
};

}  // namespace penstock::service
