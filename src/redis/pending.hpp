#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"
#include "redis/client.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::redis {

// A command and the call that waits for its reply.
struct Pending {
  enum class Prefix : std::uint8_t {
    None,
    Asking
  };  // ASKING: access to a slot that is being imported

  Command command{};
  std::unique_ptr<Call> call{};  // empty once it was called; the reply is dropped
  base::Deadline since{};        // when the caller sent it
  Prefix prefix = Prefix::None;
  std::optional<NodeId> ask{};  // node of the next attempt, with Prefix::Asking
  unsigned attempts = 0;

  [[nodiscard]] base::Deadline deadline() const noexcept { return command.deadline; }
  [[nodiscard]] auto budget() const noexcept { return command.deadline - since; }
};

using PendingPtr = std::unique_ptr<Pending>;

// The commands of one connection: first those in flight, in the order of their replies, then those
// that wait to be written. A command in flight keeps its position after its deadline; otherwise its
// late reply would be matched to the next command.
//
// Thread-safety: none.
class PendingQueue {
 public:
  using Time = base::Deadline;

  struct Expired {
    struct Late {
      std::unique_ptr<Call> call{};
      Time::duration budget{};
    };
    std::vector<Late> in_flight{};      // may have been executed
    std::vector<PendingPtr> waiting{};  // will not be executed
  };

  [[nodiscard]] std::size_t size() const noexcept { return in_flight_.size() + waiting_.size(); }
  [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }
  [[nodiscard]] bool has_in_flight() const noexcept { return !in_flight_.empty(); }

  void push(PendingPtr pending);

  // Moves all waiting commands into flight and appends their bytes.
  void write_to(std::string& buffer);

  // The command that the next reply answers. REQUIRES: has_in_flight()
  [[nodiscard]] PendingPtr pop_answered();

  // When to call expire() next: not later than the first deadline.
  [[nodiscard]] Time next_deadline() const noexcept { return earliest_; }
  [[nodiscard]] Expired expire(Time now);

  // When to close the connection if nothing is received until then: the oldest command in flight
  // exceeds its time by twice its budget, and by at least kMinStuckTime.
  static constexpr std::chrono::milliseconds kMinStuckTime{100};
  [[nodiscard]] Time stuck_at(Time last_received) const noexcept;

  [[nodiscard]] std::deque<PendingPtr> take_in_flight();
  [[nodiscard]] std::deque<PendingPtr> take_waiting();

 private:
  void find_earliest() noexcept;

  std::deque<PendingPtr> in_flight_;
  std::deque<PendingPtr> waiting_;
  Time earliest_ = Time::max();  // lower bound of the deadlines of the calls in the queue
};

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

// Errors waiting for delivery, in order. An error added during a delivery is delivered after the
// current one.
//
// Thread-safety: none.
class DeferredErrors {
 public:
  void add(std::unique_ptr<Call> call, Error error) {
    if (call != nullptr) errors_.push_back({std::move(call), std::move(error)});
  }
  [[nodiscard]] bool empty() const noexcept { return errors_.empty(); }

  // Receivers may add errors or call this again.
  void deliver() {
    while (!errors_.empty()) {
      DeferredError deferred = std::move(errors_.front());
      errors_.pop_front();
      deferred.call->on_reply(std::move(deferred.error));
    }
  }

 private:
  struct DeferredError {
    std::unique_ptr<Call> call;
    Error error;
  };

  std::deque<DeferredError> errors_;
};

}  // namespace penstock::redis
