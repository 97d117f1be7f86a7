#pragma once

#include "base/deadline.hpp"
#include "service/retry_queue.hpp"
#include "service/service_deps.hpp"
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
