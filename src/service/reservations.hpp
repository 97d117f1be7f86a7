#pragma once

#include "base/deadline.hpp"
#include "service/answer.hpp"
#include "service/request_flow.hpp"
#include "service/reservation_refund.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace penstock::service {

class ExpirySweep;

// What somebody wants to reserve, besides of which limits.
struct ReservationRequest {
  std::string id{};  // who asks again with it is told the same; empty: one is made up
  std::uint64_t estimate = 0;
  Duration lasts = std::chrono::minutes{1};
};

// What became of a wish to reserve.
struct ReserveResult {
  enum class Outcome : std::uint8_t {
    Decided,   // the limits were asked: see the answer
    Repeated,  // it is open since an earlier call
    Settled,   // one of this id was settled, or is open for another estimate or other limits
    Busy,      // an earlier call is still at it, or was, when its daemon ended
  };
  Outcome outcome = Outcome::Decided;
  Answer answer{};   // of Decided
  std::string id{};  // empty when nothing is reserved: refused, or a policy let pass without store
  Duration left{};   // until it expires
  store::Reservation known{};  // of Repeated and Settled
};

// What became of a commit or a cancel.
struct SettleResult {
  enum class Outcome : std::uint8_t {
    Done,      // by this call or by an earlier one that said the same
    Unknown,   // there is none, or none any more
    Conflict,  // an earlier call said otherwise
    Busy,      // it is not reserved yet, or it expired and its units are being refunded
  };
  Outcome outcome = Outcome::Done;
  store::ReservationState state = store::ReservationState::Pending;
  std::uint64_t estimate = 0;
  std::uint64_t actual = 0;
  // What the limits had no more units for; empty while nobody has said so, or nobody ever will
  // because a daemon ended just then.
  std::optional<std::uint64_t> uncharged{};
};

// Costs that are known only afterwards: the estimate is taken as by an ordinary check, and what it
// really was is settled later. Every step is written down before it is done, in the book of the
// store, so that of all who try only one does it. A step that the store did not answer is resolved
// in the background (RetryQueue). A daemon that crashes in between leaves units used until their
// limits forget them; they are never refunded twice.
//
// Units are given back only while the limit cannot have forgotten them by itself: what came back
// already would else come back twice, and more would pass than the limit says.
//
// Thread-safety: none; everything happens on one event loop.
class Reservations {
 public:
  template <class T>
  using Answered = std::function<void(Result<T>)>;

  explicit Reservations(const ServiceDeps& deps);
  Reservations(const Reservations&) = delete;
  Reservations& operator=(const Reservations&) = delete;
  ~Reservations();

  // `undecided` has the limits, each with its cost for one unit. When the store fails on the way,
  // the units are refunded and the failure policy answers. An error: nothing is reserved.
  void reserve(Answer undecided, std::string domain, ReservationRequest reservation,
               base::Deadline deadline, Answered<ReserveResult> answered);
  void commit(std::string id, std::uint64_t actual, base::Deadline deadline,
              Answered<SettleResult> answered);
  void cancel(std::string id, base::Deadline deadline, Answered<SettleResult> answered);

  // About once a second: repeats what the store did not answer.
  void retry();
  // About once a second, on one event loop of each node: refunds what was not settled in time.
  void sweep();

 private:
  ReservationDeps deps_;
  std::shared_ptr<ExpirySweep> sweep_;
};

}  // namespace penstock::service
