#pragma once

#include "base/deadline.hpp"
#include "service/reservations.hpp"
#include "service/retry_queue.hpp"
#include "service/service_deps.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

// The steps of Reservations.
namespace penstock::service {

// Dependencies of the reservation flows.
struct ReservationDeps {
  ServiceDeps service;
  std::shared_ptr<RetryQueue> retries;
};

// Units of a reservation to refund.
struct ReservationRefund {
  std::vector<store::HeldUnits> held;
  std::uint64_t units = 0;  // of the estimate
  base::Deadline begun{};   // when the reservation began
};

[[nodiscard]] ReservationRefund refund_of(const store::Reservation& reservation,
                                          std::uint64_t units);

// `units` of cost in units of the limit; saturates.
[[nodiscard]] std::uint64_t saturating_product(std::uint64_t weight, std::uint64_t units) noexcept;

// Refunds the limits in which the units cannot have expired yet, each in its own call. The retry
// queue repeats a refund that was certainly not executed; one with a lost answer is not repeated,
// and its units stay used until they expire. `attempted` is called after the first attempt,
// `refunded` when nothing is left to repeat.
void refund_reservation(
    const ReservationDeps& deps, const ReservationRefund& refund, base::Deadline deadline,
    const std::function<void()>& attempted, const std::function<void()>& refunded = [] {});

// One call to reserve, from its limits to its answer (reserve_flow.cpp).
void start_reserve(const ReservationDeps& deps, Answer undecided, std::string domain,
                   ReservationRequest reservation, base::Deadline deadline,
                   Reservations::Answered<ReserveResult> answered);

// One commit or cancel, from its step in the record to its answer (settle_flow.cpp).
using Settlement = std::variant<store::reservation::Commit, store::reservation::Cancel>;
void start_settle(const ReservationDeps& deps, std::string id, Settlement settlement,
                  base::Deadline deadline, Reservations::Answered<SettleResult> answered);

}  // namespace penstock::service
