#include "redis/pending.hpp"

#include "base/check.hpp"
#include "base/text.hpp"
#include "resp/command.hpp"

#include <algorithm>
#include <utility>

namespace penstock::redis {

void PendingQueue::push(PendingPtr pending) {
  earliest_ = std::min(earliest_, pending->deadline());
  waiting_.push_back(std::move(pending));
}

void PendingQueue::write_to(std::string& buffer) {
  static const std::string asking = resp::command({"ASKING"});
  for (PendingPtr& pending : waiting_) {
    if (pending->prefix == Pending::Prefix::Asking) {
      buffer += asking;
      // The reply to ASKING is dropped.
      in_flight_.push_back(std::make_unique<Pending>());
      in_flight_.back()->since = pending->since;
      in_flight_.back()->command.deadline = pending->deadline();
    }
    buffer += pending->command.bytes;
    in_flight_.push_back(std::move(pending));
  }
  waiting_.clear();
}

PendingPtr PendingQueue::pop_answered() {
  PENSTOCK_CHECK(!in_flight_.empty());
  PendingPtr pending = std::move(in_flight_.front());
  in_flight_.pop_front();
  return pending;
}

PendingQueue::Expired PendingQueue::expire(Time now) {
  Expired expired;
  for (const PendingPtr& pending : in_flight_) {
    if (pending->call == nullptr || pending->deadline() > now) continue;
    expired.in_flight.push_back({std::move(pending->call), pending->budget()});
    base::free_string(pending->command.bytes);
  }
  std::deque<PendingPtr> in_time;
  for (PendingPtr& pending : waiting_) {
    if (pending->deadline() > now) {
      in_time.push_back(std::move(pending));
    } else {
      expired.waiting.push_back(std::move(pending));
    }
  }
  waiting_ = std::move(in_time);
  find_earliest();
  return expired;
}

PendingQueue::Time PendingQueue::stuck_at(Time last_received) const noexcept {
  if (in_flight_.empty()) return Time::max();
  const Pending& oldest = *in_flight_.front();
  const Time::duration patience = std::max<Time::duration>(2 * oldest.budget(), kMinStuckTime);
  return std::max(oldest.deadline(), last_received) + patience;
}

std::deque<PendingPtr> PendingQueue::take_in_flight() {
  std::deque<PendingPtr> taken = std::exchange(in_flight_, {});
  find_earliest();
  return taken;
}

std::deque<PendingPtr> PendingQueue::take_waiting() {
  std::deque<PendingPtr> taken = std::exchange(waiting_, {});
  find_earliest();
  return taken;
}

void PendingQueue::find_earliest() noexcept {
  earliest_ = Time::max();
  for (const PendingPtr& pending : in_flight_) {
    if (pending->call != nullptr) earliest_ = std::min(earliest_, pending->deadline());
  }
  for (const PendingPtr& pending : waiting_) {
    earliest_ = std::min(earliest_, pending->deadline());
  }
}

}  // namespace penstock::redis
