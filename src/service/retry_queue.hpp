#pragma once

#include "base/deadline.hpp"
#include "penstock/time.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

namespace penstock::service {

// Steps of reservations that the store did not answer. Each is repeated about once a second, a few
// at a time, until it reports that it is finished. The queue is bounded: one step more is dropped,
// and its units stay used until their limits forget them.
//
// Thread-safety: none; everything happens on one event loop.
class RetryQueue final : public std::enable_shared_from_this<RetryQueue> {
 public:
  static constexpr std::size_t kMaxSteps = 500;
  static constexpr std::size_t kMaxInFlight = 16;
  // No step is repeated for longer. A reservation is remembered for longer than that, so a step
  // that finds none knows that there never was one, or that it was dropped.
  static constexpr Duration kGiveUpAfter = std::chrono::minutes{4};

  using Finished = std::function<void(bool finished)>;
  // Calls `finished` once: false means try again.
  using Step = std::function<void(base::Deadline deadline, Finished finished)>;

  void add(Step step);
  // About once a second. Does nothing while steps of an earlier tick are in flight.
  void tick();

  // Drops all steps, and those that come later.
  void close();

 private:
  struct Entry {
    Step step;
    base::Deadline give_up{};
  };

  void push(Entry entry);
  void send_more();
  void send(Entry entry);

  std::deque<Entry> steps_;
  std::size_t attempts_ = 0;  // steps that this tick has still to send
  std::size_t in_flight_ = 0;
  base::Deadline deadline_{};
  bool is_closed_ = false;
  bool is_sending_ = false;  // answers may come before a call returns
};

}  // namespace penstock::service
