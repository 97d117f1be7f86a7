// Limits that travel with the command: decisions of the service, as those of /v1/take over HTTP.
// When the store is unavailable, Terms::on_failure is the policy; without one, and for refunds, the
// reply is an error.
#include "wire/resp/commands.hpp"
#include "wire/resp/throttle.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

// The words behind the key; those that are missing have their default.
struct Numbers {
  std::int64_t burst = 0;
  std::int64_t count = 0;
  std::int64_t period = 0;
  std::int64_t quantity = 1;
};

constexpr std::size_t kKey = 1;
constexpr std::size_t kFirstNumber = 2;

// The position of the word that is no number; 0 when all are.
std::size_t read_numbers(const Exchange& exchange, Numbers& numbers) {
  const std::array targets{&numbers.burst, &numbers.count, &numbers.period, &numbers.quantity};
  for (std::size_t i = kFirstNumber; i < exchange.size(); ++i) {
    const std::optional<std::int64_t> number = whole_number(exchange.word(i));
    if (!number) return i;
    *targets[i - kFirstNumber] = *number;
  }
  return 0;
}

core::NamedCheck check_of(const Exchange& exchange, const Quota& quota, std::uint64_t cost) {
  return {.name = {.subject = std::string(exchange.word(kKey)), .limit = {}},
          .quota = quota,
          .cost = Cost{cost}};
}

// When a client may ask again that was denied because the store is unavailable; as over HTTP.
constexpr Duration kRetryAfter = std::chrono::seconds{1};

// Of an answer without numbers, because a policy made it: nothing is known of the key.
Decision decision_of(const service::Answer& answer, const Quota& quota) {
  const std::optional<Decision>& decision = answer.limits.front().decision;
  if (decision) return *decision;
  const auto capacity = static_cast<std::uint32_t>(quota.capacity());
  return answer.allowed ? Decision::allow(capacity, capacity, Duration{0})
                        : Decision::deny(capacity, 0, kRetryAfter, kRetryAfter);
}

// `has_policy`: else an answer that the store did not make is an error.
template <class AnswerOf>
service::Service::Answered reply_to(Later later, const Quota& quota, bool has_policy,
                                    const AnswerOf& answer_of) {
  return [later = std::move(later), quota, has_policy, answer_of](const service::Answer& answer) {
    if (!has_policy && !answer.limits.front().decision) {
      return later.fail({ErrorCode::Unavailable, "the log says why"});
    }
    later.reply([&](ReplyWriter& reply) { reply.integers(answer_of(decision_of(answer, quota))); });
  };
}

template <class AnswerOf>
void refund(const Exchange& exchange, core::NamedCheck check, const AnswerOf& answer_of) {
  exchange.store().refund(
      {std::move(check)}, exchange.deadline(),
      [later = exchange.later(), answer_of](const Result<store::Store::Decisions>& said) {
        if (!said) return later.fail(said.error());
        later.reply([&](ReplyWriter& reply) { reply.integers(answer_of(said->front())); });
      });
}

// Asks the store itself, because a peek is not counted as a decision.
template <class AnswerOf>
void peek(const Exchange& exchange, const core::NamedCheck& check, const AnswerOf& answer_of) {
  exchange.store().check(
      {check}, exchange.deadline(),
      [&service = exchange.surroundings().service, later = exchange.later(), check, answer_of,
       on_failure =
           exchange.surroundings().terms.on_failure](const Result<store::Store::Decisions>& said) {
        if (!said && !on_failure) return later.fail(said.error());
        if (!said) {
          return service.take_without_store(check, *on_failure,
                                            reply_to(later, check.quota, true, answer_of));
        }
        later.reply([&](ReplyWriter& reply) { reply.integers(answer_of(said->front())); });
      });
}

// `answer_of` makes the reply of a decision.
template <class AnswerOf>
void decide(const Exchange& exchange, const Quota& quota, std::int64_t quantity,
            const AnswerOf& answer_of) {
  const auto units = static_cast<std::uint64_t>(quantity);
  // without the sign, for the least number too
  if (quantity < 0) {
    return refund(exchange, check_of(exchange, quota, std::uint64_t{0} - units), answer_of);
  }
  if (quantity == 0) return peek(exchange, check_of(exchange, quota, 0), answer_of);
  service::Service& service = exchange.surroundings().service;
  if (const auto decision = service.take_at_once(exchange.word(kKey), quota, Cost{units})) {
    exchange.reply().integers(answer_of(*decision));
    return;
  }
  const std::optional<rules::OnFailure> on_failure = exchange.surroundings().terms.on_failure;
  service.take(check_of(exchange, quota, units), on_failure.value_or(rules::OnFailure::Closed),
               exchange.deadline(),
               reply_to(exchange.later(), quota, on_failure.has_value(), answer_of));
}

}  // namespace

// CL.THROTTLE key max_burst count_per_period period [quantity], as redis-cell has it. An array of
// integers:
//   0  1 when refused, 0 when allowed
//   1  max_burst + 1: what can pass at once
//   2  what could pass now
//   3  seconds until the same passes; -1 when allowed, and when it never will
//   4  seconds until nothing counts as used
// A quantity of 0 looks and is allowed; one below 0 gives back, as far as something was taken.
void cl_throttle(const Exchange& exchange) {
  if (exchange.size() < 5 || exchange.size() > 6) {
    return exchange.refuse(
        "Cell error: Usage: cl.throttle key max_burst count_per_period period [quantity]");
  }
  Numbers numbers;
  if (const std::size_t bad = read_numbers(exchange, numbers); bad != 0) {
    return exchange.refuse("Cell error: Couldn't parse as integer: " +
                           std::string(exchange.word(bad).substr(0, 64)));
  }
  if (numbers.count == 0 || numbers.period == 0) {
    return exchange.refuse("Cell error: Zero rates are not supported");
  }
  if (numbers.burst < 0 || numbers.count < 0 || numbers.period < 0) {
    return exchange.refuse("Cell error: Negative rates are not supported");
  }
  if (exchange.word(kKey).empty()) return exchange.refuse("Cell error: The key is empty");
  Error refusal;
  const std::int64_t capacity = numbers.burst == INT64_MAX ? INT64_MAX : numbers.burst + 1;
  const Quota* const quota = exchange.surroundings().quotas.find(
      {.capacity = capacity, .count = numbers.count, .period_seconds = numbers.period}, refusal);
  if (quota == nullptr) return exchange.refuse("Cell error: " + refusal.detail);
  decide(exchange, *quota, numbers.quantity,
         [quantity = numbers.quantity](const Decision& decision) {
           return cell_answer(decision, quantity);
         });
}

// THROTTLE key max_burst count_per_period period [quantity], as throttlecrab has it. An array of
// integers:
//   0  1 when allowed, 0 when refused
//   1  max_burst: what can pass at once
//   2  what could pass now
//   3  seconds until the key is forgotten, rounded down
//   4  seconds until the same passes, rounded down; -1 when it never will
// A quantity of 0 looks and is allowed.
void throttle(const Exchange& exchange) {
  constexpr std::array<std::string_view, 4> kNames{"max_burst", "count_per_period", "period",
                                                   "quantity"};
  Numbers numbers;
  if (const std::size_t bad = read_numbers(exchange, numbers); bad != 0) {
    return exchange.refuse("ERR invalid " + std::string(kNames[bad - kFirstNumber]));
  }
  if (numbers.quantity < 0) {
    return exchange.refuse("ERR negative quantity: " + std::to_string(numbers.quantity));
  }
  if (numbers.burst <= 0 || numbers.count <= 0 || numbers.period <= 0) {
    return exchange.refuse("ERR invalid rate limit parameters");
  }
  if (exchange.word(kKey).empty()) return exchange.refuse("ERR invalid key");
  Error refusal;
  const Quota* const quota = exchange.surroundings().quotas.find(
      {.capacity = numbers.burst, .count = numbers.count, .period_seconds = numbers.period},
      refusal);
  if (quota == nullptr) return exchange.refuse("ERR " + refusal.detail);
  decide(exchange, *quota, numbers.quantity,
         [quota = *quota, quantity = numbers.quantity](const Decision& decision) {
           return crab_answer(decision, quota, quantity);
         });
}

}  // namespace penstock::wire::resp
