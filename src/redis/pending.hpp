#pragma once

#include "base/deadline.hpp"
#include "redis/client.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::redis {

// A command on its way, together with whoever waits for the reply.
struct Pending {
  enum class Prefix : std::uint8_t {
    None,
    Asking
  };  // ASKING: let me in where the slot is moving to

  Command command{};
  std::unique_ptr<Call> call{};  // empty once it has been told something; the reply goes nowhere
  base::Deadline since{};        // when it was sent by the caller
  Prefix prefix = Prefix::None;
  std::optional<NodeId> ask{};  // the next attempt goes there, with Prefix::Asking
  unsigned attempts = 0;

  [[nodiscard]] base::Deadline deadline() const noexcept { return command.deadline; }
  [[nodiscard]] auto budget() const noexcept { return command.deadline - since; }
};

using PendingPtr = std::unique_ptr<Pending>;

// The commands of one connection: first those in flight, whose replies will come in this order,
// then those that wait to be written. A command in flight keeps its place when its time is over, or
// its late reply would be taken for that of the next one.
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
    std::vector<Late> in_flight{};      // may be executed all the same
    std::vector<PendingPtr> waiting{};  // will not
  };

  [[nodiscard]] std::size_t size() const noexcept { return in_flight_.size() + waiting_.size(); }
  [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }
  [[nodiscard]] bool has_in_flight() const noexcept { return !in_flight_.empty(); }

  void push(PendingPtr pending);

  // Puts all that waits into flight and appends its bytes.
  void write_to(std::string& buffer);

  // The command that the next reply belongs to. REQUIRES: has_in_flight()
  [[nodiscard]] PendingPtr pop_answered();

  // When to call expire() next: not later than the first deadline.
  [[nodiscard]] Time next_deadline() const noexcept { return earliest_; }
  [[nodiscard]] Expired expire(Time now);

  // When to give the connection up, if nothing at all is received until then: the oldest command in
  // flight is late by twice what it was given, and by kMinStuckTime at the least.
  static constexpr std::chrono::milliseconds kMinStuckTime{100};
  [[nodiscard]] Time stuck_at(Time last_received) const noexcept;

  [[nodiscard]] std::deque<PendingPtr> take_in_flight();
  [[nodiscard]] std::deque<PendingPtr> take_waiting();

 private:
  void find_earliest() noexcept;

  std::deque<PendingPtr> in_flight_;
  std::deque<PendingPtr> waiting_;
  Time earliest_ = Time::max();  // no deadline of a call that is still here lies before it
};

}  // namespace penstock::redis
