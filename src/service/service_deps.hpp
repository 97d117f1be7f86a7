#pragma once

#include "base/deadline.hpp"
#include "penstock/clock.hpp"
#include "penstock/result.hpp"
#include "service/answer.hpp"
#include "service/live_overrides.hpp"
#include "service/local_fallback.hpp"
#include "store/stores.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace penstock::service {

class Rollouts;

// The domain and the rule name of limits that come with a request.
inline constexpr std::string_view kTake = "take";

// Observes the service: metrics, logs, hot keys. Called on the event loop for every request: must
// not block, nor take a lock that is held for long.
class Events {
 public:
  Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  virtual ~Events() = default;

  // A store call ended after this time. `failure` is null when it succeeded.
  virtual void on_store_call(std::chrono::steady_clock::duration waited, const Error* failure) = 0;
  // An answer is about to be sent, with denials, shadow denials, failures and local decisions.
  // `domain` is empty when the rules do not know it.
  virtual void on_answer(std::string_view domain, const Answer& answer) = 0;
  // A request named a domain without rules; on_answer() follows.
  virtual void on_unknown_domain(std::string_view /*domain*/, rules::UnknownDomain /*answer*/) {}
  // A limit of a request was decided inline by the store: replaces on_answer(), without an Answer
  // and without reading a clock.
  virtual void on_take(std::string_view subject, const Decision& decision) = 0;
};

// Receives the answer of a store call that starts now: reports the call, then passes the answer on.
// REQUIRES: `events` outlives the call.
template <class Then>
[[nodiscard]] auto timed(Events& events, Then then) {
  return [&events, then = std::move(then), since = base::monotonic_now()](const auto& said) {
    events.on_store_call(base::monotonic_now() - since, said ? nullptr : &said.error());
    then(said);
  };
}
// For a call whose answer does not matter.
[[nodiscard]] inline auto timed(Events& events) {
  return timed(events, [](const auto& /*unused*/) {});
}

// Whether a call that failed certainly changed nothing. After any other failure it may have.
[[nodiscard]] inline bool was_not_executed(const Error& error) noexcept {
  return error.code == ErrorCode::Unavailable || error.code == ErrorCode::Overloaded;
}

// Dependencies of a request. They outlive it.
struct ServiceDeps {
  store::Stores stores;
  LocalFallback& local;
  Events& events;
  // For all store calls of one request. It may change between requests.
  static constexpr Duration kLongTimeout = std::chrono::hours{1};
  const Duration* store_timeout = &kLongTimeout;
  // The clock of the store: for limits of 0, which are decided without it, and for times of day.
  const Clock* clock = &system_clock();
  LiveOverrides* overrides = nullptr;  // without it, overrides have no effect
  // The roll-outs of this node, or null; `worker` numbers the event loops that count for them.
  Rollouts* rollouts = nullptr;
  std::size_t worker = 0;

  [[nodiscard]] base::Deadline within(base::Deadline deadline) const {
    return std::min<base::Deadline>(deadline, base::deadline_after(*store_timeout));
  }
  // For calls that must be made even if the client no longer waits.
  [[nodiscard]] base::Deadline background_deadline() const { return within(base::Deadline::max()); }
};

}  // namespace penstock::service
