#pragma once

#include "base/deadline.hpp"
#include "service/request_flow.hpp"
#include "service/retry_queue.hpp"
#include "store/reservation_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace penstock::service {

// Dependencies of the reservation flows.
struct ReservationDeps {
  ServiceDeps service;
  std::shared_ptr<RetryQueue> retries;

  // For steps that must be done even if the client no longer waits.
  [[nodiscard]] base::Deadline background_deadline() const {
    return service.within(base::Deadline::max());
  }
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
    const ReservationDeps& deps, ReservationRefund refund, base::Deadline deadline,
    const std::function<void()>& attempted, const std::function<void()>& refunded = [] {});

}  // namespace penstock::service
