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

// What the flows of reservations share.
struct ReservationDeps {
  ServiceDeps service;
  std::shared_ptr<RetryQueue> retries;

  // Of a step that must be done whether or not the client still waits for it.
  [[nodiscard]] base::Deadline background_deadline() const {
    return service.within(base::Deadline::max());
  }
};

// Units of a reservation that go back to their limits.
struct ReservationRefund {
  std::vector<store::HeldUnits> held;
  std::uint64_t units = 0;  // of the estimate
  base::Deadline begun{};   // when the reservation began
};

[[nodiscard]] ReservationRefund refund_of(const store::Reservation& reservation,
                                          std::uint64_t units);

// `units` of cost in units of the limit; saturates.
[[nodiscard]] std::uint64_t saturating_product(std::uint64_t weight, std::uint64_t units) noexcept;

// Refunds those limits that cannot have forgotten the units by themselves, each in a call of its
// own. A refund that certainly was not executed is repeated by the retry queue; one whose answer
// was lost is not, and may have to be waited for until the limit forgets the units. `attempted` is
// called after the first attempt, `refunded` when nothing is left to repeat.
void refund_reservation(
    const ReservationDeps& deps, ReservationRefund refund, base::Deadline deadline,
    const std::function<void()>& attempted, const std::function<void()>& refunded = [] {});

}  // namespace penstock::service
