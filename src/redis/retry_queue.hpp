#pragma once

#include "base/deadline.hpp"
#include "redis/pending.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace penstock::redis {

// Commands waiting for a point in time.
//
// Thread-safety: none.
class RetryQueue {
 public:
  using Time = base::Deadline;

  void add(Time due, PendingPtr pending) { queue_.emplace(due, std::move(pending)); }
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

  // Time::max() when empty.
  [[nodiscard]] Time next_due() const {
    return queue_.empty() ? Time::max() : queue_.begin()->first;
  }
  // Due commands, the longest overdue first.
  [[nodiscard]] std::vector<PendingPtr> take_due(Time now) {
    std::vector<PendingPtr> due;
    while (!queue_.empty() && queue_.begin()->first <= now) {
      due.push_back(std::move(queue_.extract(queue_.begin()).mapped()));
    }
    return due;
  }

 private:
  std::multimap<Time, PendingPtr> queue_;
};

}  // namespace penstock::redis
