#include "net/timeouts.hpp"

namespace penstock::net {

void Timeouts::enter(Timed& timed, Phase phase, base::Deadline now) {
  const auto limit = limits_.at(static_cast<std::size_t>(phase));
  const auto most = base::Deadline::max() - now;
  timed.unlink();
  timed.phase_ = phase;
  timed.deadline_ = limit < most ? now + limit : base::Deadline::max();
  list(phase).push_back(timed);
}

void Timeouts::expire(base::Deadline now) {
  for (List& members : lists_) {
    while (!members.empty() && members.front().deadline_ <= now) {
      Timed& due = members.front();
      const Phase phase = due.phase_;
      enter(due, Phase::Ending, now);
      due.expire(phase);
    }
  }
}

}  // namespace penstock::net
