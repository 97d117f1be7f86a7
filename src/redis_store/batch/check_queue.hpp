#pragma once

#include "base/deadline.hpp"
#include "base/text_hash.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/result.hpp"
#include "redis_store/batch/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace penstock::redis_store {

struct KeyCheck {
  std::string key;
  Quota quota;
  Cost cost{};
};

// Limits that pass all or nothing. A single check is a request of size one.
struct CheckRequest {
  std::vector<KeyCheck> checks{};
  std::string guard{};  // a further key that must not be blocked; empty for none
};

// Receives the decisions of all limits of a request, once.
using Decided = std::function<void(Result<std::vector<Decision>>)>;

// A request that waits for its decisions.
struct WaitingRequest {
  CheckRequest request{};
  Plan::Kind kind = Plan::Kind::Take;  // or Refund or AlreadyDenied
  base::Deadline deadline{};
  Decided decided{};  // empty once it was called

  void answer(Result<std::vector<Decision>> decisions) {
    if (const Decided waiting = std::exchange(decided, nullptr)) waiting(std::move(decisions));
  }
};

// Requests over the same keys. One call per lane is in flight at a time; requests that arrive
// meanwhile wait and form the next call, in order of arrival. All single checks of a key share a
// lane. Any other request has a lane to itself: it does not wait for others.
struct Lane {
  std::string key{};  // of a shared lane; its checks do not repeat it
  std::uint16_t slot = 0;
  std::vector<WaitingRequest> waiting{};
  std::vector<WaitingRequest> asked{};             // by the call in flight
  base::Deadline call_ends{};                      // deadline of that call
  base::Deadline watched = base::Deadline::max();  // the next deadline to enforce
  bool is_ready = false;                           // take() will look at it
  std::list<Lane>::iterator place{};
};

// The script of a call. A request with a state that its script cannot read goes to the next one.
enum class CallKind : std::uint8_t {
  Buckets,    // buckets.lua or buckets_multi.lua: equal bucket quotas and costs
  Decide,     // decide.lua with the module of one algorithm
  DecideAny,  // decide.lua with all modules
};

// Lanes with requests that fit one call: all shared, or none.
struct Batch {
  CallKind kind = CallKind::Decide;
  std::vector<Lane*> lanes{};
  base::Deadline deadline{};
};

// Whether buckets.lua and buckets_multi.lua can decide the check, apart from the state of its key.
[[nodiscard]] inline bool is_for_bucket_scripts(const Quota& quota, Cost cost) {
  return quota.is_bucket() && cost.units > 0 && cost.units <= quota.capacity();
}

// For requests of a store that is being destroyed.
[[nodiscard]] inline Error store_closed() {
  return {ErrorCode::Unavailable, "the store was closed"};
}

// Whether the error guarantees that nothing was executed.
[[nodiscard]] inline bool was_not_executed(const Error& error) noexcept {
  return error.code == ErrorCode::Unavailable || error.code == ErrorCode::Overloaded;
}

// Groups requests into as few calls as possible: same key, one item; same limits, one script. A
// call ends at the latest deadline of its requests; each request is answered by its own: the owner
// of the queue calls expire(). It has no sockets.
//
// A caller may add requests or call fail_all() from within the answer that it receives.
class CheckQueue {
 public:
  // Checks of one call. Redis blocks all other clients meanwhile: 256 take about a millisecond, and
  // so do 64 of requests with several keys in decide.lua.
  static constexpr std::size_t kMaxChecks = 256;
  static constexpr std::size_t kMaxDecided = 64;

  // In a cluster a script may only touch keys of one slot.
  enum class Spread : std::uint8_t { OneServer, BySlot };

  explicit CheckQueue(Spread spread) : spread_(spread) {}

  // REQUIRES: the request has checks, with keys that are not empty; in a cluster they share a slot.
  void add(WaitingRequest&& waiting);

  // The batches that can be sent now. Requests after their deadline are answered with Unavailable
  // instead: nothing was charged.
  [[nodiscard]] std::vector<Batch> take(base::Deadline now);

  // The earliest deadline of a request that waits for a longer call.
  [[nodiscard]] base::Deadline next_expiry() const noexcept {
    return watched_.empty() ? base::Deadline::max() : watched_.begin()->first;
  }
  // Answers requests after their deadline: with Timeout when they were sent, and may have been
  // charged.
  void expire(base::Deadline now);

  // The call of this lane has completed. REQUIRES: its `asked` are answered.
  void finish(Lane& lane);
  // Whether take() would have something to do.
  [[nodiscard]] bool has_ready() const noexcept { return !ready_.empty(); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Answers all requests, also later ones, with this error. The lanes stay as they are: a call may
  // be reading its reply.
  void fail_all(const Error& error);

 private:
  [[nodiscard]] Lane& lane_for(WaitingRequest& waiting);
  void make_ready(Lane& lane);
  void drop_late(Lane& lane, base::Deadline now);
  void watch(Lane& lane, base::Deadline until);
  void stop_watching(Lane& lane);
  // Watches the requests that end before the call in flight.
  void watch_all(Lane& lane);
  void forget(Lane& lane);

  Spread spread_;
  std::list<Lane> lanes_;
  std::unordered_map<std::string_view, Lane*, base::TextHash> shared_lanes_;  // by key
  std::vector<Lane*> ready_;
  std::set<std::pair<base::Deadline, Lane*>> watched_;
  std::size_t size_ = 0;  // requests added and not yet finished
  std::optional<Error> closed_;
};

}  // namespace penstock::redis_store
