// Limits in the command itself: decisions of the service, as with /v1/take over HTTP.
// When the store is unavailable, ServerSettings::on_failure is the policy; without one, and for
// refunds, the reply is an error.
#include "wire/resp/throttle.hpp"

#include "wire/resp/commands.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kMostPerSecond = 1'000'000;
// Longer periods are rejected anyway, and microseconds would overflow 64 bits.
constexpr std::int64_t kLongestPeriod = 1'000'000'000;

bool is_allowed(const Decision& decision, std::int64_t quantity) {
  return decision.allowed() || (quantity == 0 && decision.outcome() != Outcome::Blocked);
}

}  // namespace

Result<Quota> quota_of(const ThrottleRate& rate) {
  if (rate.period_seconds > kLongestPeriod) {
    return Error{ErrorCode::InvalidInput,
                 "period " + std::to_string(rate.period_seconds) + " s is too long"};
  }
  if (rate.count / kMostPerSecond > rate.period_seconds ||
      rate.count > rate.period_seconds * kMostPerSecond) {
    return Error{ErrorCode::InvalidInput,
                 "rate " + std::to_string(rate.count) + " per " +
                     std::to_string(rate.period_seconds) +
                     " s is above 1000000 per second, the fastest there is"};
  }
  return Quota::make(per(rate.count, seconds{rate.period_seconds}).burst(rate.capacity).gcra());
}

const Quota* QuotaCache::find(const ThrottleRate& rate, Error& error) {
  std::optional<Entry>& entry = entries_[place_of(rate)];
  if (entry && entry->rate == rate) [[likely]] {
    return &entry->quota;
  }
  const Result<Quota> made = quota_of(rate);
  if (!made) {
    error = made.error();
    return nullptr;
  }
  entry.emplace(Entry{.rate = rate, .quota = *made});
  return &entry->quota;
}

std::size_t QuotaCache::place_of(const ThrottleRate& rate) noexcept {
  // any odd numbers of many bits will do
  const std::uint64_t mixed = static_cast<std::uint64_t>(rate.capacity) * 0x9E3779B97F4A7C15U ^
                              static_cast<std::uint64_t>(rate.count) * 0xC2B2AE3D27D4EB4FU ^
                              static_cast<std::uint64_t>(rate.period_seconds) * 0x165667B19E3779F9U;
  return static_cast<std::size_t>(mixed >> 56U) % kEntries;
}

std::array<std::int64_t, 5> cl_throttle_reply(const Decision& decision, std::int64_t quantity) {
  const bool allowed = is_allowed(decision, quantity);
  const std::optional<Duration> wait = decision.retry_after();
  return {allowed ? 0 : 1, decision.limit(), decision.remaining(),
          allowed || !wait ? -1 : cell_seconds(*wait), cell_seconds(decision.reset_after())};
}

std::array<std::int64_t, 5> throttle_reply(const Decision& decision, const Quota& quota,
                                           std::int64_t quantity) {
  const bool allowed = is_allowed(decision, quantity);
  const std::optional<Duration> wait = decision.retry_after();
  // When throttlecrab forgets the key: a burst after the last request's time has come.
  const auto others = std::int64_t{quota.capacity()} - 2;
  const Duration burst = others < 0
                             ? -Duration{quota.time_for(1).whole}
                             : Duration{quota.time_for(static_cast<std::uint64_t>(others)).whole};
  const Duration forgotten = std::max(Duration{0}, decision.reset_after() + burst);
  const auto floored = [](Duration time) { return time / seconds{1}; };
  std::int64_t retry = wait ? floored(*wait) : -1;
  if (allowed) retry = 0;
  return {allowed ? 1 : 0, decision.limit(), decision.remaining(), floored(forgotten), retry};
}

std::int64_t cell_seconds(Duration time) noexcept {
  const bool has_milliseconds = time % seconds{1} >= milliseconds{1};
  return time / seconds{1} + (has_milliseconds ? 1 : 0);
}

namespace {

// The arguments after the key, with their defaults.
struct Numbers {
  std::int64_t burst = 0;
  std::int64_t count = 0;
  std::int64_t period = 0;
  std::int64_t quantity = 1;
};

constexpr std::size_t kKey = 1;
constexpr std::size_t kFirstNumber = 2;

// The position of the word that is no number; 0 when all are.
std::size_t read_numbers(const CommandContext& context, Numbers& numbers) {
  const std::array targets{&numbers.burst, &numbers.count, &numbers.period, &numbers.quantity};
  for (std::size_t i = kFirstNumber; i < context.size(); ++i) {
    const std::optional<std::int64_t> number = parse_number(context.word(i));
    if (!number) return i;
    *targets[i - kFirstNumber] = *number;
  }
  return 0;
}

core::NamedCheck check_of(const CommandContext& context, const Quota& quota, std::uint64_t cost) {
  return {.name = {.subject = std::string(context.word(kKey)), .limit = {}},
          .quota = quota,
          .cost = Cost{cost}};
}

// retry_after of a denial while the store is unavailable; as over HTTP.
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
service::Service::Answered reply_to(DeferredReply deferred, const Quota& quota, bool has_policy,
                                    const AnswerOf& answer_of) {
  return [deferred = std::move(deferred), quota, has_policy,
          answer_of](const service::Answer& answer) {
    if (!has_policy && !answer.limits.front().decision) {
      return deferred.fail({ErrorCode::Unavailable, "the log says why"});
    }
    deferred.reply(
        [&](ReplyWriter& reply) { reply.integers(answer_of(decision_of(answer, quota))); });
  };
}

template <class AnswerOf>
void refund(const CommandContext& context, core::NamedCheck check, const AnswerOf& answer_of) {
  context.stores().limits.refund(
      {std::move(check)}, context.deadline(),
      [deferred = context.defer(), answer_of](const Result<store::Decisions>& said) {
        if (!said) return deferred.fail(said.error());
        deferred.reply([&](ReplyWriter& reply) { reply.integers(answer_of(said->front())); });
      });
}

// Calls the store directly, because a peek is not counted as a decision.
template <class AnswerOf>
void peek(const CommandContext& context, const core::NamedCheck& check, const AnswerOf& answer_of) {
  context.stores().limits.check(
      {check}, context.deadline(),
      [&service = context.server_context().service, deferred = context.defer(), check, answer_of,
       on_failure =
           context.server_context().settings.on_failure](const Result<store::Decisions>& said) {
        if (!said && !on_failure) return deferred.fail(said.error());
        if (!said) {
          return reply_to(deferred, check.quota, true,
                          answer_of)(service.take_without_store(check, *on_failure));
        }
        deferred.reply([&](ReplyWriter& reply) { reply.integers(answer_of(said->front())); });
      });
}

// `answer_of` makes the reply of a decision.
template <class AnswerOf>
void decide(const CommandContext& context, const Quota& quota, std::int64_t quantity,
            const AnswerOf& answer_of) {
  const auto units = static_cast<std::uint64_t>(quantity);
  // without the sign, for the least number too
  if (quantity < 0) {
    return refund(context, check_of(context, quota, std::uint64_t{0} - units), answer_of);
  }
  if (quantity == 0) return peek(context, check_of(context, quota, 0), answer_of);
  service::Service& service = context.server_context().service;
  if (const auto decision = service.try_take(context.word(kKey), quota, Cost{units})) {
    context.reply().integers(answer_of(*decision));
    return;
  }
  const std::optional<rules::OnFailure> on_failure = context.server_context().settings.on_failure;
  service.take(check_of(context, quota, units), on_failure.value_or(rules::OnFailure::Closed),
               context.deadline(),
               reply_to(context.defer(), quota, on_failure.has_value(), answer_of));
}

}  // namespace

// CL.THROTTLE key max_burst count_per_period period [quantity], as redis-cell has it. An array of
// integers:
//   0  1 when denied, 0 when allowed
//   1  max_burst + 1: the burst
//   2  remaining
//   3  seconds until the same is allowed; -1 when allowed, and when it never is
//   4  seconds until the usage is zero
// A quantity of 0 is a peek and is allowed; one below 0 is a refund, up to the usage.
void cl_throttle(const CommandContext& context) {
  if (context.size() < 5 || context.size() > 6) {
    return context.error(
        "Cell error: Usage: cl.throttle key max_burst count_per_period period [quantity]");
  }
  Numbers numbers;
  if (const std::size_t bad = read_numbers(context, numbers); bad != 0) {
    return context.error("Cell error: Couldn't parse as integer: " +
                         std::string(context.word(bad).substr(0, 64)));
  }
  if (numbers.count == 0 || numbers.period == 0) {
    return context.error("Cell error: Zero rates are not supported");
  }
  if (numbers.burst < 0 || numbers.count < 0 || numbers.period < 0) {
    return context.error("Cell error: Negative rates are not supported");
  }
  if (context.word(kKey).empty()) return context.error("Cell error: The key is empty");
  Error refusal;
  const std::int64_t capacity = numbers.burst == INT64_MAX ? INT64_MAX : numbers.burst + 1;
  const Quota* const quota = context.server_context().quotas.find(
      {.capacity = capacity, .count = numbers.count, .period_seconds = numbers.period}, refusal);
  if (quota == nullptr) return context.error("Cell error: " + refusal.detail);
  decide(context, *quota, numbers.quantity,
         [quantity = numbers.quantity](const Decision& decision) {
           return cl_throttle_reply(decision, quantity);
         });
}

// THROTTLE key max_burst count_per_period period [quantity], as throttlecrab has it. An array of
// integers:
//   0  1 when allowed, 0 when denied
//   1  max_burst
//   2  remaining
//   3  seconds until the key is forgotten, rounded down
//   4  seconds until the same is allowed, rounded down; -1 when it never is
// A quantity of 0 is a peek and is allowed.
void throttle(const CommandContext& context) {
  constexpr std::array<std::string_view, 4> kNames{"max_burst", "count_per_period", "period",
                                                   "quantity"};
  Numbers numbers;
  if (const std::size_t bad = read_numbers(context, numbers); bad != 0) {
    return context.error("ERR invalid " + std::string(kNames[bad - kFirstNumber]));
  }
  if (numbers.quantity < 0) {
    return context.error("ERR negative quantity: " + std::to_string(numbers.quantity));
  }
  if (numbers.burst <= 0 || numbers.count <= 0 || numbers.period <= 0) {
    return context.error("ERR invalid rate limit parameters");
  }
  if (context.word(kKey).empty()) return context.error("ERR invalid key");
  Error refusal;
  const Quota* const quota = context.server_context().quotas.find(
      {.capacity = numbers.burst, .count = numbers.count, .period_seconds = numbers.period},
      refusal);
  if (quota == nullptr) return context.error("ERR " + refusal.detail);
  decide(context, *quota, numbers.quantity,
         [quota = *quota, quantity = numbers.quantity](const Decision& decision) {
           return throttle_reply(decision, quota, quantity);
         });
}

}  // namespace penstock::wire::resp
