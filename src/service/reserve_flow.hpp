#pragma once

#include "service/reservations.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::service {

// One wish to reserve, from its limits to its answer:
//
//   begin     the id is this call's; somebody else's: what the book says is the answer
//   check     the estimate, all limits or none, as any request
//   confirm   what was taken is written down; refused: the id is free again
//
// When the book cannot be written, the policies of the rules answer alone, as if there were no
// store, and nothing is reserved.
class ReserveFlow final : public std::enable_shared_from_this<ReserveFlow> {
 public:
  ReserveFlow(const Colleagues& colleagues, Answer unasked, std::string domain,
              ReservationTerms terms, base::Deadline deadline,
              Reservations::Answered<Reserved> answered);

  void start();

 private:
  void on_begun(const Result<store::ReservationAnswer>& said);
  void tell_known(const store::Reservation& known);
  void decide(bool has_begun);
  void on_decided(Answer answer);
  void on_confirmed(const Result<store::ReservationAnswer>& said);
  void finish(std::string id);
  void ask(decltype(store::ReservationAsk::what) what,
           void (ReserveFlow::*next)(const Result<store::ReservationAnswer>&));
  [[nodiscard]] std::vector<store::HeldCount> held() const;
  // Whether a reservation may be of the limits that this call asks for.
  [[nodiscard]] bool is_of_these_limits(const store::Reservation& known) const;

  Colleagues colleagues_;
  Answer answer_;
  std::string domain_;
  ReservationTerms terms_;
  base::Deadline deadline_;
  base::Deadline began_{};
  Reservations::Answered<Reserved> answered_;
  std::string claimant_;
  std::vector<std::uint64_t> weights_;  // of the limits of the answer
};

// So many units of each count for every unit of cost.
[[nodiscard]] std::uint64_t times(std::uint64_t weight, std::uint64_t units) noexcept;

// Gives so many units back to those counts that cannot have forgotten them by themselves, and says
// when that is done. Failures are heard by events as well: the units then stay used.
void give_back(const Colleagues& colleagues, const std::vector<store::HeldCount>& held,
               std::uint64_t units, Duration age, base::Deadline deadline,
               std::function<void(Result<void>)> done);

}  // namespace penstock::service
