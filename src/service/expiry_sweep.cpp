#include "service/expiry_sweep.hpp"

#include "service/reserve_flow.hpp"

#include <utility>

namespace penstock::service {
namespace {

// Of a whole sweep.
constexpr Duration kSweepLasts = std::chrono::seconds{2};

bool was_not_heard(const Error& error) {
  return error.code == ErrorCode::Unavailable || error.code == ErrorCode::Overloaded;
}

}  // namespace

void ExpirySweep::start() {
  if (under_way_ > 0) return;
  deadline_ = base::deadline_after(kSweepLasts);
  under_way_ = 1;
  retries_ = owed_.size();
  colleagues_.store.reservations().due(
      kPerSweep, deadline_,
      [self = shared_from_this()](const Result<std::vector<std::string>>& ids) {
        // the store tells why not by itself, to those who wait for it
        if (ids) self->due_.assign(ids->begin(), ids->end());
        self->close_one();
      });
}

void ExpirySweep::send_more() {
  if (std::exchange(is_sending_, true)) return;
  while (under_way_ < kAtOnce && base::monotonic_now() < deadline_) {
    if (retries_ > 0) {
      --retries_;
      Owed owed = std::move(owed_.front());
      owed_.pop_front();
      ++under_way_;
      pay(std::move(owed));
    } else if (!due_.empty()) {
      const std::string id = std::move(due_.front());
      due_.pop_front();
      ++under_way_;
      expire(id);
    } else {
      break;
    }
  }
  is_sending_ = false;
}

void ExpirySweep::expire(const std::string& id) {
  colleagues_.store.reservations().ask(
      {.id = id, .what = store::reservation::Expire{}}, deadline_,
      [self = shared_from_this()](const Result<store::ReservationAnswer>& said) {
        if (!said || !said->done) return self->close_one();
        self->pay({.held = said->before->held,
                   .units = said->before->estimate,
                   .begun = base::monotonic_now() - said->before->age});
      });
}

void ExpirySweep::pay(Owed owed) {
  const auto age = std::chrono::ceil<Duration>(base::monotonic_now() - owed.begun);
  const std::vector<store::HeldCount> held = owed.held;
  give_back(colleagues_, held, owed.units, age, deadline_,
            [self = shared_from_this(), owed = std::move(owed)](const Result<void>& given) mutable {
              if (!given && was_not_heard(given.error()) && self->owed_.size() < kPerSweep) {
                self->owed_.push_back(std::move(owed));
              }
              self->close_one();
            });
}

void ExpirySweep::close_one() {
  --under_way_;
  send_more();
}

}  // namespace penstock::service
