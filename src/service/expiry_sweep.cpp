#include "service/expiry_sweep.hpp"

#include "service/random_id.hpp"

#include <utility>
#include <vector>

namespace penstock::service {
namespace {

// Of a whole sweep.
constexpr Duration kSweepTimeout = std::chrono::seconds{2};

}  // namespace

void ExpirySweep::start() {
  if (in_flight_ > 0) return;
  deadline_ = base::deadline_after(kSweepTimeout);
  in_flight_ = 1;
  deps_.service.stores.reservations.due(
      kPerSweep, deadline_,
      [self = shared_from_this()](const Result<std::vector<std::string>>& ids) {
        // the store reports its own failures to its callers
        if (ids) self->due_.assign(ids->begin(), ids->end());
        self->finish_one();
      });
}

void ExpirySweep::send_more() {
  if (std::exchange(is_sending_, true)) return;
  while (in_flight_ < kMaxInFlight && !due_.empty() && base::monotonic_now() < deadline_) {
    store::ReservationRequest ask{.id = std::move(due_.front()),
                                  .what = store::reservation::Expire{.settler = random_id()}};
    due_.pop_front();
    ++in_flight_;
    expire(ask, deadline_, [self = shared_from_this(), ask](const Result<void>& said) {
      if (!said && !was_not_executed(said.error())) self->expire_later(ask);
      self->finish_one();
    });
  }
  is_sending_ = false;
}

void ExpirySweep::expire_later(const store::ReservationRequest& ask) {
  deps_.retries->add([self = shared_from_this(), ask](base::Deadline deadline,
                                                      const RetryQueue::Finished& finished) {
    self->expire(ask, deadline,
                 [finished](const Result<void>& said) { finished(said.has_value()); });
  });
}

void ExpirySweep::expire(const store::ReservationRequest& ask, base::Deadline deadline,
                         const std::function<void(Result<void>)>& done) {
  deps_.service.stores.reservations.ask(
      ask, deadline,
      [self = shared_from_this(), id = ask.id, deadline,
       done](const Result<store::ReservationAnswer>& said) {
        if (!said) return done(said.error());
        if (!said->done) return done({});
        refund_reservation(
            self->deps_, refund_of(*said->before, said->before->estimate), deadline,
            [done] { done({}); }, [self, id] { self->note_refunded(id); });
      });
}

// From now on it can be committed.
void ExpirySweep::note_refunded(const std::string& id) {
  deps_.service.stores.reservations.ask({.id = id, .what = store::reservation::Refunded{}},
                                        deps_.service.background_deadline(),
                                        [](const auto& /*unused*/) {});
}

void ExpirySweep::finish_one() {
  --in_flight_;
  send_more();
}

}  // namespace penstock::service
