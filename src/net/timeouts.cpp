#include "net/timeouts.hpp"

#include <algorithm>

namespace penstock::net {

void Timeouts::enter(TimeoutEntry& entry, Phase phase, base::Deadline now) {
  entry.unlink();
  entry.phase_ = phase;
  entry.since_ = now;
  list(phase).push_back(entry);
}

void Timeouts::expire(base::Deadline now) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    List& members = list(phase);
    while (!members.empty() && now - members.front().since_ >= limits_.at(i)) {
      TimeoutEntry& due = members.front();
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
