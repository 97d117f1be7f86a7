#pragma once

#include "base/deadline.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"
#include "redis_store/batch/batching.hpp"

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

// Receives the decision of each of its checks, once. It must not add checks before on_decision()
// has returned.
class DecisionHandler {
 public:
  DecisionHandler() = default;
  DecisionHandler(const DecisionHandler&) = delete;
  DecisionHandler& operator=(const DecisionHandler&) = delete;
  virtual ~DecisionHandler() = default;

  virtual void on_decision(std::size_t question, const Result<Decision>& decision) = 0;
};

// A check that waits for its decision.
struct WaitingCheck {
  Quota quota;
  Cost cost;
  base::Deadline deadline{};
  DecisionHandler* handler = nullptr;  // null once it was called
  std::size_t question = 0;

  void answer(const Result<Decision>& decision) {
    if (DecisionHandler* const waiting = std::exchange(handler, nullptr))
      waiting->on_decision(question, decision);
  }
};

// All checks of one key. One call per key is in flight at a time; checks that arrive meanwhile wait
// and form the next call, in order of arrival.
struct KeyQueue {
  std::string key;
  std::uint16_t slot = 0;
  std::vector<WaitingCheck> waiting{};
  std::vector<WaitingCheck> asked{};               // by the call in flight
  base::Deadline call_ends{};                      // deadline of that call
  base::Deadline watched = base::Deadline::max();  // the next deadline to enforce
};

// Keys with checks that fit one call.
struct CheckBatch {
  CallKind kind = CallKind::Decide;
  std::vector<KeyQueue*> keys{};
  base::Deadline deadline{};
};

// Groups checks into as few calls as possible: same key, one item; same quota, one script. Each
// check is answered by its own deadline, whatever call it waits for: the owner of the queue calls
// expire(). It has no sockets.
class CheckQueue {
 public:
  // Keys of one call. Redis blocks all other clients meanwhile: 256 take about a millisecond.
  static constexpr std::size_t kMaxKeys = 256;

  // In a cluster a script may only touch keys of one slot.
  enum class Spread : std::uint8_t { OneServer, BySlot };

  void add(std::string key, const WaitingCheck& check);

  // The batches that can be sent now. Checks after their deadline are answered with Unavailable
  // instead: nothing was charged.
  [[nodiscard]] std::vector<CheckBatch> take(Spread spread, base::Deadline now);

  // The earliest deadline of a check that waits for a longer call.
  [[nodiscard]] base::Deadline next_expiry() const noexcept {
    return watched_.empty() ? base::Deadline::max() : watched_.begin()->first;
  }
  // Answers checks after their deadline: with Timeout when they were sent, and may have been
  // charged.
  void expire(base::Deadline now);

  // The call of this key has completed. REQUIRES: its `asked` are answered.
  void finish(KeyQueue& queue);
  // Whether take() would have something to do.
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }

  [[nodiscard]] std::size_t size() const noexcept { return waiting_; }
  // Answers all checks with this error.
  void fail_all(const Error& error);

 private:
  void drop_late(KeyQueue& queue, base::Deadline now);
  void watch(KeyQueue& queue, base::Deadline until);
  void stop_watching(KeyQueue& queue);
  // Watches the checks that end before the call in flight.
  void watch_all(KeyQueue& queue);
  void forget(KeyQueue& queue);

  std::unordered_map<std::string_view, std::unique_ptr<KeyQueue>> queues_;
  std::vector<KeyQueue*> ready_;
  std::set<std::pair<base::Deadline, KeyQueue*>> watched_;
  std::size_t waiting_ = 0;  // checks added and not yet finished
};

}  // namespace penstock::redis_store
