// Limits that travel with the command: decisions of the service, as those of /v1/take over HTTP,
// without its choice of a policy for failures: when the store cannot be asked, the reply is an
// error, never a denial.
#include "wire/resp/commands.hpp"
#include "wire/resp/throttle.hpp"

#include <array>
#include <optional>
#include <string>

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

// Of the store itself, for what is no decision.
template <class AnswerOf>
store::Store::Answered<store::Store::Decisions> reply_to(const Exchange& exchange,
                                                         const AnswerOf& answer_of) {
  return [later = exchange.later(), answer_of](const Result<store::Store::Decisions>& decisions) {
    if (!decisions) return later.fail(decisions.error());
    later.reply([&](ReplyWriter& reply) { reply.integers(answer_of(decisions->front())); });
  };
}

// `answer_of` makes the reply of a decision.
template <class AnswerOf>
void decide(const Exchange& exchange, const Quota& quota, std::int64_t quantity,
            const AnswerOf& answer_of) {
  const auto units = static_cast<std::uint64_t>(quantity);
  // without the sign, for the least number too
  if (quantity < 0) {
    return exchange.store().refund({check_of(exchange, quota, std::uint64_t{0} - units)},
                                   exchange.deadline(), reply_to(exchange, answer_of));
  }
  if (quantity == 0) {
    return exchange.store().check({check_of(exchange, quota, 0)}, exchange.deadline(),
                                  reply_to(exchange, answer_of));
  }
  service::Service& service = exchange.surroundings().service;
  if (const auto decision = service.take_at_once(exchange.word(kKey), quota, Cost{units})) {
    exchange.reply().integers(answer_of(*decision));
    return;
  }
  service.take(check_of(exchange, quota, units), rules::OnFailure::Closed, exchange.deadline(),
               [later = exchange.later(), answer_of](const service::Answer& answer) {
                 const std::optional<Decision>& decision = answer.limits.front().decision;
                 if (!decision) return later.fail({ErrorCode::Unavailable, "the log says why"});
                 later.reply([&](ReplyWriter& reply) { reply.integers(answer_of(*decision)); });
               });
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
