#include "service/expiry_sweep.hpp"

#include "service/unique_name.hpp"

#include <utility>
#include <vector>

namespace penstock::service {
namespace {

// Of a whole sweep.
constexpr Duration kSweepLasts = std::chrono::seconds{2};

}  // namespace

void ExpirySweep::start() {
  if (under_way_ > 0) return;
  deadline_ = base::deadline_after(kSweepLasts);
  under_way_ = 1;
  deps_.colleagues.store.reservations().due(
      kPerSweep, deadline_,
      [self = shared_from_this()](const Result<std::vector<std::string>>& ids) {
        // the store tells why not by itself, to those who wait for it
        if (ids) self->due_.assign(ids->begin(), ids->end());
        self->close_one();
      });
}

void ExpirySweep::send_more() {
  if (std::exchange(is_sending_, true)) return;
  while (under_way_ < kAtOnce && !due_.empty() && base::monotonic_now() < deadline_) {
    store::ReservationAsk ask{.id = std::move(due_.front()),
                              .what = store::reservation::Expire{.settler = unique_name()}};
    due_.pop_front();
    ++under_way_;
    expire(ask, deadline_, [self = shared_from_this(), ask](const Result<void>& said) {
      if (!said && !was_not_executed(said.error())) self->expire_later(ask);
      self->close_one();
    });
  }
  is_sending_ = false;
}

void ExpirySweep::expire_later(const store::ReservationAsk& ask) {
  deps_.retries->add([self = shared_from_this(), ask](base::Deadline deadline,
                                                      const RetryQueue::Finished& finished) {
    self->expire(ask, deadline,
                 [finished](const Result<void>& said) { finished(said.has_value()); });
  });
}

void ExpirySweep::expire(const store::ReservationAsk& ask, base::Deadline deadline,
                         const std::function<void(Result<void>)>& done) {
  deps_.colleagues.store.reservations().ask(
      ask, deadline,
      [self = shared_from_this(), id = ask.id, deadline,
       done](const Result<store::ReservationAnswer>& said) {
        if (!said) return done(said.error());
        if (!said->done) return done({});
        refund_held(
            self->deps_, refund_of(*said->before, said->before->estimate), deadline,
            [done] { done({}); }, [self, id] { self->note_refunded(id); });
      });
}

// From now on it can be committed.
void ExpirySweep::note_refunded(const std::string& id) {
  deps_.colleagues.store.reservations().ask({.id = id, .what = store::reservation::Refunded{}},
                                            deps_.own_deadline(), [](const auto& /*unused*/) {});
}

void ExpirySweep::close_one() {
  --under_way_;
  send_more();
}

}  // namespace penstock::service
