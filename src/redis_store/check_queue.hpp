#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::redis_store {

// Whoever asked: hears the answer to each of its questions, once. It must not ask again before
// on_decision() has returned.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual void on_decision(std::size_t question, const Result<Decision>& decision) = 0;
};

// One limit that somebody asked about, and waits for.
struct WaitingCheck {
  Quota quota;
  Cost cost;
  base::Deadline deadline{};
  Sink* sink = nullptr;
  std::size_t question = 0;

  void answer(const Result<Decision>& decision) const { sink->on_decision(question, decision); }
};

// All that is asked about one key. One call at a time is under way for it; what arrives meanwhile
// waits, and becomes the next call: first come, first served.
struct KeyQueue {
  std::string key;
  std::uint16_t slot = 0;
  std::vector<WaitingCheck> waiting{};
  std::vector<WaitingCheck> asked{};  // of the call under way
};

// Keys whose questions fit one call.
struct CheckBatch {
  enum class Way : std::uint8_t {
    Buckets,  // buckets.lua: one bucket quota, one cost
    Decide,   // decide.lua
  };
  Way way = Way::Decide;
  std::vector<KeyQueue*> keys{};
  base::Deadline deadline{};  // the earliest
};

// Puts questions together into as few calls as possible: same key, one item; same quota, one
// script. Knows no sockets.
class CheckQueue {
 public:
  // Keys of one call. Redis serves nobody else meanwhile: 256 are about a millisecond.
  static constexpr std::size_t kMostKeys = 256;

  // In a cluster a script may only touch keys of one slot.
  enum class Spread : std::uint8_t { OneServer, BySlot };

  void add(std::string key, const WaitingCheck& check);

  // What can be asked now. Questions whose deadline has passed are answered with Unavailable
  // instead: nothing was charged.
  [[nodiscard]] std::vector<CheckBatch> take(Spread spread, base::Deadline now);

  // The call of this key has been answered. REQUIRES: its `asked` are.
  void finish(KeyQueue& queue);
  // Whether take() would have something to do.
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }

  [[nodiscard]] std::size_t size() const noexcept { return waiting_; }
  // Answers everybody with this error.
  void fail_all(const Error& error);

 private:
  void drop_late(KeyQueue& queue, base::Deadline now);

  std::unordered_map<std::string_view, std::unique_ptr<KeyQueue>> queues_;
  std::vector<KeyQueue*> ready_;
  std::size_t waiting_ = 0;  // checks added and not yet finished
};

}  // namespace penstock::redis_store
