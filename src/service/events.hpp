#pragma once

#include "penstock/result.hpp"
#include "service/answer.hpp"

#include <chrono>
#include <string_view>

namespace penstock::service {

// What limits that come with a request are counted under, as the domain and as the rule.
inline constexpr std::string_view kTake = "take";

// Who hears what the service does: metrics, logs, the list of busy keys. Called on the event loop,
// on the way of every request: it must neither wait nor take a lock that others hold for long.
class Events {
 public:
  Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  virtual ~Events() = default;

  // The store was asked, and answered or failed after so long. `failure` is null for an answer.
  virtual void on_store_call(std::chrono::steady_clock::duration waited, const Error* failure) = 0;
  // A request is about to be told this: refusals, those of shadow limits, failures and decisions of
  // this node alone are all in it. `domain` is empty when the rules know no such domain.
  virtual void on_answer(std::string_view domain, const Answer& answer) = 0;
  // A request named a domain that no rules were loaded for; on_answer() follows.
  virtual void on_unknown_domain(std::string_view /*domain*/, rules::UnknownDomain /*answer*/) {}
  // A limit that came with a request was decided by a store that need not ask anybody: what
  // on_answer() would hear of it, without the time to make an Answer and to look at a clock.
  virtual void on_take(std::string_view subject, const Decision& decision) = 0;
};

}  // namespace penstock::service
