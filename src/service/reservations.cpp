#include "service/reservations.hpp"

#include "service/random_id.hpp"
#include "service/reservation_flows.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace penstock::service {

// Refunds reservations that were not settled in time: reads which are due and expires them a few at
// a time, so that requests do not wait behind them. The retry queue repeats steps that the store
// did not answer.
//
// Thread-safety: none; everything happens on one event loop.
class ExpirySweep final : public std::enable_shared_from_this<ExpirySweep> {
 public:
  static constexpr std::size_t kPerSweep = 500;
  static constexpr Duration kTimeout = std::chrono::seconds{2};  // of a whole sweep

  explicit ExpirySweep(ReservationDeps deps) : deps_(std::move(deps)) {}

  // Does nothing while an earlier sweep is in flight.
  void start();

 private:
  void send_more();
  // `done` receives whether the store answered.
  void expire(const store::ReservationRequest& ask, base::Deadline deadline,
              const std::function<void(Result<void>)>& done);
  void expire_later(const store::ReservationRequest& ask);
  void note_refunded(const std::string& id);
  void finish_one();

  ReservationDeps deps_;
  base::Deadline deadline_{};
  std::deque<std::string> due_;
  std::size_t in_flight_ = 0;
  bool is_sending_ = false;  // answers may come before a call returns
};

void ExpirySweep::start() {
  if (in_flight_ > 0) return;
  deadline_ = base::deadline_after(kTimeout);
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
  while (in_flight_ < Reservations::kMaxExpiriesInFlight && !due_.empty() &&
         base::monotonic_now() < deadline_) {
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

Reservations::Reservations(const ServiceDeps& deps)
    : deps_(std::make_unique<ReservationDeps>(
          ReservationDeps{.service = deps, .retries = std::make_shared<RetryQueue>()})),
      sweep_(std::make_shared<ExpirySweep>(*deps_)) {}

Reservations::~Reservations() { deps_->retries->close(); }

void Reservations::reserve(Answer undecided, std::string domain, ReservationRequest reservation,
                           base::Deadline deadline, Answered<ReserveResult> answered) {
  start_reserve(*deps_, std::move(undecided), std::move(domain), std::move(reservation), deadline,
                std::move(answered));
}

void Reservations::commit(std::string id, std::uint64_t actual, base::Deadline deadline,
                          Answered<SettleResult> answered) {
  start_settle(*deps_, std::move(id),
               store::reservation::Commit{.actual = actual, .settler = random_id()}, deadline,
               std::move(answered));
}

void Reservations::cancel(std::string id, base::Deadline deadline,
                          Answered<SettleResult> answered) {
  start_settle(*deps_, std::move(id), store::reservation::Cancel{.settler = random_id()}, deadline,
               std::move(answered));
}

void Reservations::retry() { deps_->retries->tick(); }
void Reservations::sweep() { sweep_->start(); }

}  // namespace penstock::service
