#pragma once

#include "service/reservation_refund.hpp"
#include "service/reservations.hpp"

#include <memory>
#include <string>
#include <variant>

namespace penstock::service {

// One commit or cancel, from its step in the record to its answer:
//
//   step      the record says that it is settled, and by this call
//   settle    the difference is refunded or charged; what could not be charged is noted
//
// Each step has its own deadline. When the answer to the first step is lost, the client receives an
// error, and the flow repeats the step in the background: if this call did the step, it settles the
// difference then. So exactly one call settles it, unless its daemon crashes.
class SettleFlow final : public std::enable_shared_from_this<SettleFlow> {
 public:
  using What = std::variant<store::reservation::Commit, store::reservation::Cancel>;

  SettleFlow(ReservationDeps deps, std::string id, What what,
             Reservations::Answered<SettleResult> answered);

  void start(base::Deadline deadline);

 private:
  void ask(base::Deadline deadline,
           std::function<void(const Result<store::ReservationAnswer>&)> on_answer);
  void on_step(const store::ReservationAnswer& said);
  void settle_commit(const store::Reservation& before, std::uint64_t actual);
  void charge(const store::Reservation& before, std::uint64_t units);
  void refund(const store::Reservation& before, std::uint64_t units);
  [[nodiscard]] SettleResult result_for(const std::optional<store::Reservation>& known) const;
  void ask_again_later();
  void answer(Result<SettleResult> settled);

  ReservationDeps deps_;
  std::string id_;
  What what_;
  Reservations::Answered<SettleResult> answered_;  // empty once it was called
  SettleResult settled_{};
};

}  // namespace penstock::service
