#include "base/join.hpp"
#include "core/exact_span.hpp"
#include "service/reservation_flows.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

using store::HeldUnits;

// The refund arrives after it was decided; the key must not have expired by
// then.
constexpr Duration kRefundLatency = std::chrono::seconds{1};

// How many of these units the count cannot have forgotten by itself. A window has all of them until
// it is over. A bucket refills: had less been taken, it might have been full for a while, and what
// it would have missed then is not missing any more. That is at most as much as was refilled since
// the units were taken, once what had been missing before is refilled.
std::uint64_t still_used(const HeldUnits& held, std::uint64_t units, Duration age) {
  if (held.counts_for - age <= kRefundLatency) return 0;
  if (!held.quota.is_bucket()) return units;
  const Duration missing = held.counts_for - age - kRefundLatency;
  return std::min<std::uint64_t>(
      units, core::tokens_in({.whole = missing.count(), .part = 0}, held.quota));
}

using OnMissed = std::function<void(ReservationRefund)>;

// One attempt. `done` receives what certainly was not refunded.
void attempt(const ServiceDeps& deps, const ReservationRefund& refund, base::Deadline deadline,
             OnMissed done) {
  struct Attempt {
    ReservationRefund missed;
    OnMissed done;
    base::Join refunds{[this] { done(std::move(missed)); }};
  };
  const auto age = std::chrono::ceil<Duration>(base::monotonic_now() - refund.begun);
  const std::shared_ptr<Attempt> running(
      new Attempt{.missed = {.held = {}, .units = refund.units, .begun = refund.begun},
                  .done = std::move(done)});
  running->refunds.add();
  for (const HeldUnits& each : refund.held) {
    const std::uint64_t counted =
        still_used(each, saturating_product(each.weight, refund.units), age);
    if (counted == 0) continue;
    running->refunds.add();
    deps.stores.limits.refund({{.name = each.name, .quota = each.quota, .cost = {counted}}},
                              deadline, timed(deps.events, [running, each](const auto& said) {
                                if (!said && was_not_executed(said.error())) {
                                  running->missed.held.push_back(each);
                                }
                                running->refunds.finish_one();
                              }));
  }
  running->refunds.finish_one();
}

void retry(const ReservationDeps& deps, ReservationRefund missed, std::function<void()> refunded) {
  const auto left = std::make_shared<ReservationRefund>(std::move(missed));
  deps.retries->add([service = deps.service, left, refunded = std::move(refunded)](
                        base::Deadline deadline, RetryQueue::Finished finished) {
    attempt(service, *left, deadline,
            [left, refunded, finished = std::move(finished)](ReservationRefund still) {
              *left = std::move(still);
              if (left->held.empty()) refunded();
              finished(left->held.empty());
            });
  });
}

}  // namespace

std::uint64_t saturating_product(std::uint64_t weight, std::uint64_t units) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(weight, units, &product) ? UINT64_MAX : product;
}

ReservationRefund refund_of(const store::Reservation& reservation, std::uint64_t units) {
  return {
      .held = reservation.held, .units = units, .begun = base::monotonic_now() - reservation.age};
}

void refund_reservation(const ReservationDeps& deps, const ReservationRefund& refund,
                        base::Deadline deadline, const std::function<void()>& attempted,
                        const std::function<void()>& refunded) {
  attempt(deps.service, refund, deadline, [deps, attempted, refunded](ReservationRefund missed) {
    if (missed.held.empty()) {
      refunded();
    } else {
      retry(deps, std::move(missed), refunded);
    }
    attempted();
  });
}

}  // namespace penstock::service
