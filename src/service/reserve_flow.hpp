#pragma once

#include "service/reservation_refund.hpp"
#include "service/reservations.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace penstock::service {

// One call to reserve, from its limits to its answer:
//
//   begin     the id is this call's; if it is another's, the record is the answer
//   check     the estimate, all limits or none, as any request
//   confirm   what was charged goes into the record; when denied, the record is dropped
//
// Each step has a deadline of its own: that of the store, and for the first two the client's.
//
// When there is no record to begin with, nothing is charged. When the record cannot be confirmed,
// it is dropped, and what was charged is refunded; if the store does not answer that either, the
// retry queue goes on. In both cases nothing is reserved, and the failure policy of the limits is
// the answer. Only the final answer is reported to Events.
class ReserveFlow final : public std::enable_shared_from_this<ReserveFlow> {
 public:
  ReserveFlow(ReservationDeps deps, Answer undecided, std::string domain,
              ReservationRequest reservation, base::Deadline deadline,
              Reservations::Answered<ReserveResult> answered);

  void start();

 private:
  using OnStoreAnswer = std::function<void(ReserveFlow&, const Result<store::ReservationAnswer>&)>;

  void on_begun(const Result<store::ReservationAnswer>& said);
  void answer_known(const store::Reservation& known);
  void decide(bool has_begun);
  void on_decided(Answer answer);
  void on_confirmed(const Result<store::ReservationAnswer>& said);
  void on_dropped(const Result<store::ReservationAnswer>& said);
  void drop_later();
  void on_dropped_later(const store::ReservationAnswer& said, const ReservationRefund& taken) const;
  void refund_charged() const;
  void answer_by_policy();
  void finish(std::string id);
  void ask(decltype(store::ReservationRequest::what) what, base::Deadline deadline,
           const OnStoreAnswer& on_answer);
  [[nodiscard]] std::vector<store::HeldUnits> held() const;
  [[nodiscard]] ReservationRefund charged() const;
  // Whether this call has reserved nothing, and never will.
  [[nodiscard]] bool is_void(const store::ReservationAnswer& dropped) const;
  // Whether the limits passed only because the store was unavailable.
  [[nodiscard]] bool is_by_policy_alone() const;
  // Whether a reservation can be of the limits of this call.
  [[nodiscard]] bool is_of_these_limits(const store::Reservation& known) const;

  ReservationDeps deps_;
  Answer answer_;
  std::string domain_;
  ReservationRequest request_;
  bool has_own_id_ = false;  // named by the client
  base::Deadline deadline_;
  base::Deadline began_{};
  Reservations::Answered<ReserveResult> answered_;
  std::string claimant_;
  std::vector<std::uint64_t> weights_;  // of the limits of the answer
};

}  // namespace penstock::service
