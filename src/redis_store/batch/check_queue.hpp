#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace penstock::redis_store {

// Whoever asked: hears the answer to each of its questions, once. It must not ask again before
// on_decision() has returned.
class DecisionHandler {
 public:
  DecisionHandler() = default;
  DecisionHandler(const DecisionHandler&) = delete;
  DecisionHandler& operator=(const DecisionHandler&) = delete;
  virtual ~DecisionHandler() = default;

  virtual void on_decision(std::size_t question, const Result<Decision>& decision) = 0;
};

// One limit that somebody asked about, and waits for.
struct WaitingCheck {
  Quota quota;
  Cost cost;
  base::Deadline deadline{};
  DecisionHandler* handler = nullptr;  // nobody once it has heard
  std::size_t question = 0;

  void answer(const Result<Decision>& decision) {
    if (DecisionHandler* const waiting = std::exchange(handler, nullptr))
      waiting->on_decision(question, decision);
  }
};

// All that is asked about one key. One call at a time is under way for it; what arrives meanwhile
// waits, and becomes the next call: first come, first served.
struct KeyQueue {
  std::string key;
  std::uint16_t slot = 0;
  std::vector<WaitingCheck> waiting{};
  std::vector<WaitingCheck> asked{};               // of the call under way
  base::Deadline call_ends{};                      // by then it is answered
  base::Deadline watched = base::Deadline::max();  // who waits here hears something by then
};

// Keys whose questions fit one call.
struct CheckBatch {
  enum class CallKind : std::uint8_t {
    Buckets,  // buckets.lua: one bucket quota, one cost
    Decide,   // decide.lua
  };
  CallKind kind = CallKind::Decide;
  std::vector<KeyQueue*> keys{};
  base::Deadline deadline{};  // the latest: nobody's haste ends the wait of others
};

// Puts questions together into as few calls as possible: same key, one item; same quota, one
// script. Everybody is answered by their own deadline, whatever call they wait for: whoever has the
// queue calls expire(). Knows no sockets.
class CheckQueue {
 public:
  // Keys of one call. Redis serves nobody else meanwhile: 256 are about a millisecond.
  static constexpr std::size_t kMaxKeys = 256;

  // In a cluster a script may only touch keys of one slot.
  enum class Spread : std::uint8_t { OneServer, BySlot };

  void add(std::string key, const WaitingCheck& check);

  // What can be asked now. Questions whose deadline has passed are answered with Unavailable
  // instead: nothing was charged.
  [[nodiscard]] std::vector<CheckBatch> take(Spread spread, base::Deadline now);

  // When somebody has to be answered who waits for a call that lasts longer.
  [[nodiscard]] base::Deadline next_expiry() const noexcept {
    return watched_.empty() ? base::Deadline::max() : watched_.begin()->first;
  }
  // Answers those whose deadline has passed: Timeout when they were asked about, and may have been
  // charged.
  void expire(base::Deadline now);

  // The call of this key has been answered. REQUIRES: its `asked` are.
  void finish(KeyQueue& queue);
  // Whether take() would have something to do.
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }

  [[nodiscard]] std::size_t size() const noexcept { return waiting_; }
  // Answers everybody with this error.
  void fail_all(const Error& error);

 private:
  void drop_late(KeyQueue& queue, base::Deadline now);
  void watch(KeyQueue& queue, base::Deadline until);
  void stop_watching(KeyQueue& queue);
  // For whoever would hear of the call under way too late.
  void watch_all(KeyQueue& queue);
  void forget(KeyQueue& queue);

  std::unordered_map<std::string_view, std::unique_ptr<KeyQueue>> queues_;
  std::vector<KeyQueue*> ready_;
  std::set<std::pair<base::Deadline, KeyQueue*>> watched_;
  std::size_t waiting_ = 0;  // checks added and not yet finished
};

}  // namespace penstock::redis_store
