#include "net/timeouts.hpp"

#include <algorithm>

namespace penstock::net {

void Timeouts::enter(TimeoutEntry& entry, Phase phase, base::Deadline now) {
  const auto limit = limits_.at(static_cast<std::size_t>(phase));
  const auto most = base::Deadline::max() - now;
  entry.unlink();
  entry.phase_ = phase;
  entry.deadline_ = limit < most ? now + limit : base::Deadline::max();
  list(phase).push_back(entry);
}

void Timeouts::expire(base::Deadline now) {
  for (List& members : lists_) {
    while (!members.empty() && members.front().deadline_ <= now) {
      TimeoutEntry& due = members.front();
      const Phase phase = due.phase_;
      enter(due, Phase::Closing, now);
      due.expire(phase);
    }
  }
}

Timeouts::Durations phase_limits(std::initializer_list<std::pair<Phase, Duration>> limits) {
  constexpr Duration kLongest = std::chrono::hours{24};
  Timeouts::Durations durations;
  durations.fill(std::chrono::steady_clock::duration::max());
  for (const auto& [phase, limit] : limits) {
    durations.at(static_cast<std::size_t>(phase)) = std::min(limit, kLongest);
  }
  return durations;
}

}  // namespace penstock::net
