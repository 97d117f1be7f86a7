#pragma once

#include "base/deadline.hpp"
#include "service/request_flow.hpp"
#include "service/retry_queue.hpp"
#include "store/reservation_book.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace penstock::service {

// What the flows of reservations share.
struct ReservationDeps {
  Colleagues colleagues;
  std::shared_ptr<RetryQueue> retries;

  // Of a step that must be done whether or not the client still waits for it.
  [[nodiscard]] base::Deadline own_deadline() const {
    return colleagues.within(base::Deadline::max());
  }
};

// Units of a reservation that go back to their limits.
struct HeldRefund {
  std::vector<store::HeldCount> held;
  std::uint64_t units = 0;  // of the estimate
  base::Deadline begun{};   // when the reservation began
};

[[nodiscard]] HeldRefund refund_of(const store::Reservation& reservation, std::uint64_t units);

// `units` of cost in units of the limit; saturates.
[[nodiscard]] std::uint64_t times(std::uint64_t weight, std::uint64_t units) noexcept;

// Refunds those limits that cannot have forgotten the units by themselves, each in a call of its
// own. A refund that certainly was not executed is repeated by the retry queue; one whose answer
// was lost is not, and may have to be waited for until the limit forgets the units. `attempted` is
// called after the first attempt, `refunded` when nothing is left to repeat.
void refund_held(
    const ReservationDeps& deps, HeldRefund refund, base::Deadline deadline,
    const std::function<void()>& attempted, const std::function<void()>& refunded = [] {});

}  // namespace penstock::service
