#include "service/held_refund.hpp"

#include "core/exact_span.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

using store::HeldCount;

// What is given back arrives later than it was decided; the count must not have forgotten it by
// then.
constexpr Duration kOnTheWay = std::chrono::seconds{1};

// How many of these units the count cannot have forgotten by itself. A window has all of them until
// it is over. A bucket refills: had less been taken, it might have been full for a while, and what
// it would have missed then is not missing any more. That is at most as much as was refilled since
// the units were taken, once what had been missing before is refilled.
std::uint64_t still_counted(const HeldCount& held, std::uint64_t units, Duration age) {
  if (held.counts_for - age <= kOnTheWay) return 0;
  if (!held.quota.is_bucket()) return units;
  const Duration missing = held.counts_for - age - kOnTheWay;
  return std::min<std::uint64_t>(
      units, core::tokens_in({.whole = missing.count(), .part = 0}, held.quota));
}

using Missed = std::function<void(HeldRefund)>;

// One attempt. `done` is told what certainly was not refunded.
void attempt(const Colleagues& colleagues, const HeldRefund& refund, base::Deadline deadline,
             Missed done) {
  struct Attempt {
    HeldRefund missed;
    std::size_t open;
    Missed done;

    void close_one() {
      if (--open == 0) done(std::move(missed));
    }
  };
  const auto age = std::chrono::ceil<Duration>(base::monotonic_now() - refund.begun);
  const auto running = std::make_shared<Attempt>(
      Attempt{.missed = {.held = {}, .units = refund.units, .begun = refund.begun},
              .open = 1,  // for this loop: answers may come before it ends
              .done = std::move(done)});
  for (const HeldCount& each : refund.held) {
    const std::uint64_t counted = still_counted(each, times(each.weight, refund.units), age);
    if (counted == 0) continue;
    ++running->open;
    colleagues.store.refund({{.name = each.name, .quota = each.quota, .cost = {counted}}}, deadline,
                            [&events = colleagues.events, running, each,
                             since = base::monotonic_now()](const auto& said) {
                              events.on_store_call(base::monotonic_now() - since,
                                                   said ? nullptr : &said.error());
                              if (!said && was_not_executed(said.error())) {
                                running->missed.held.push_back(each);
                              }
                              running->close_one();
                            });
  }
  running->close_one();
}

void retry(const ReservationDeps& deps, HeldRefund missed, std::function<void()> refunded) {
  const auto left = std::make_shared<HeldRefund>(std::move(missed));
  deps.retries->add([colleagues = deps.colleagues, left, refunded = std::move(refunded)](
                        base::Deadline deadline, RetryQueue::Finished finished) {
    attempt(colleagues, *left, deadline,
            [left, refunded, finished = std::move(finished)](HeldRefund still) {
              *left = std::move(still);
              if (left->held.empty()) refunded();
              finished(left->held.empty());
            });
  });
}

}  // namespace

std::uint64_t times(std::uint64_t weight, std::uint64_t units) noexcept {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(weight, units, &product) ? UINT64_MAX : product;
}

HeldRefund refund_of(const store::Reservation& reservation, std::uint64_t units) {
  return {
      .held = reservation.held, .units = units, .begun = base::monotonic_now() - reservation.age};
}

void refund_held(const ReservationDeps& deps, HeldRefund refund, base::Deadline deadline,
                 const std::function<void()>& attempted, const std::function<void()>& refunded) {
  attempt(deps.colleagues, refund, deadline, [deps, attempted, refunded](HeldRefund missed) {
    if (missed.held.empty()) {
      refunded();
    } else {
      retry(deps, std::move(missed), refunded);
    }
    attempted();
  });
}

}  // namespace penstock::service
