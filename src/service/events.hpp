#pragma once

#include "penstock/result.hpp"
#include "service/answer.hpp"

#include <chrono>
#include <string_view>

namespace penstock::service {

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

}  // namespace penstock::service
