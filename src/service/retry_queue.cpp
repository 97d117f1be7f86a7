#include "service/retry_queue.hpp"

#include <utility>

namespace penstock::service {
namespace {

constexpr Duration kTickTimeout = std::chrono::seconds{2};

}  // namespace

void RetryQueue::add(Step step) {
  push({.step = std::move(step), .give_up = base::deadline_after(kGiveUpAfter)});
}

void RetryQueue::push(Entry entry) {
  if (!is_closed_ && steps_.size() < kMaxSteps) steps_.push_back(std::move(entry));
}

void RetryQueue::close() {
  is_closed_ = true;
  attempts_ = 0;
  steps_.clear();
}

void RetryQueue::tick() {
  if (in_flight_ > 0) return;
  attempts_ = steps_.size();
  deadline_ = base::deadline_after(kTickTimeout);
  send_more();
}

void RetryQueue::send_more() {
  if (std::exchange(is_sending_, true)) return;
  while (attempts_ > 0 && in_flight_ < kMaxInFlight && base::monotonic_now() < deadline_) {
    --attempts_;
    Entry entry = std::move(steps_.front());
    steps_.pop_front();
    if (entry.give_up > base::monotonic_now()) send(std::move(entry));
  }
  is_sending_ = false;
}

void RetryQueue::send(Entry entry) {
  ++in_flight_;
  const Step step = entry.step;
  step(deadline_, [self = shared_from_this(), entry = std::move(entry)](bool finished) mutable {
    if (!finished) self->push(std::move(entry));
    --self->in_flight_;
    self->send_more();
  });
}

}  // namespace penstock::service
