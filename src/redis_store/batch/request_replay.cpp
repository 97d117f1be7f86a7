#include "redis_store/batch/request_replay.hpp"

#include "core/decide_all.hpp"

#include <algorithm>

namespace penstock::redis_store {
namespace {

using Numbers = std::span<const Plan::KeyIndex>;

// Charges the request, or nothing.
Replayed take(const CheckRequest& request, Numbers numbers, Replays& replays, Instant now) {
  std::vector<ReplayedCheck> checks;
  checks.reserve(request.checks.size());
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const KeyCheck& check = request.checks[i];
    checks.push_back({.replay = &*replays[numbers[i]], .quota = &check.quota, .cost = check.cost});
  }
  core::find_pending(std::span(checks));
  Replayed outcome;
  outcome.decisions.resize(checks.size());
  outcome.passed = core::decide_all(std::span(checks), std::span(outcome.decisions), now);
  return outcome;
}

// The state of all limits, without a charge.
std::vector<Decision> previews(const CheckRequest& request, Numbers numbers, const Replays& replays,
                               Instant now) {
  std::vector<Decision> decisions;
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    decisions.push_back(replays[numbers[i]]->preview(request.checks[i].quota, Cost{0}, now));
  }
  return decisions;
}

}  // namespace

std::optional<KeyReplay> bucket_replay(const resp::Value& state, const Quota& quota,
                                       const StateHeader& header) {
  if (!state.is(resp::Value::Type::String)) return KeyReplay{};
  const std::size_t size = quota.algorithm() == Algorithm::Gcra ? 32 : 39;
  if (state.text.size() != size || !state.text.starts_with(view(header))) return std::nullopt;
  std::optional<KeyContent> content = decode(state.text, quota, header);
  if (!content) return std::nullopt;
  return KeyReplay(*std::move(content));
}

Replays replays_of(const DecideReply& decided, const Plan& plan) {
  Replays replays(decided.states.size());
  for (std::size_t i = 0; i < replays.size(); ++i) {
    const Quota* const quota = plan.quota_of(static_cast<Plan::KeyIndex>(i));
    const resp::Value& state = *decided.states[i];
    std::optional<KeyContent> content = KeyContent{};
    if (state.is(resp::Value::Type::String)) {
      content =
          quota == nullptr ? decode(state.text) : decode(state.text, *quota, header_of(*quota));
    }
    if (content) replays[i].emplace(*std::move(content));
  }
  return replays;
}

bool is_readable(const CheckRequest& request, Numbers numbers, const Replays& replays) {
  const Numbers checks = numbers.first(request.checks.size());
  return std::all_of(checks.begin(), checks.end(),
                     [&](Plan::KeyIndex number) { return replays[number].has_value(); });
}

Replayed replay(const WaitingRequest& waiting, Numbers numbers, Replays& replays, Instant now) {
  const CheckRequest& request = waiting.request;
  if (waiting.kind == Plan::Kind::Refund) {
    for (std::size_t i = 0; i < request.checks.size(); ++i) {
      replays[numbers[i]]->refund(request.checks[i].cost, now);
    }
  }
  // the guard may hold a state that these limits cannot read: then it is not blocked
  const std::optional<KeyReplay>* const guard =
      request.guard.empty() ? nullptr : &replays[numbers.back()];
  if (guard != nullptr && *guard && (*guard)->is_blocked(now)) {
    Replayed blocked;
    for (const KeyCheck& check : request.checks) {
      blocked.decisions.push_back(
          Decision::block(check.quota.capacity(), (*guard)->blocked_until() - now));
    }
    return blocked;
  }
  if (waiting.kind == Plan::Kind::Refund) {
    return {.passed = true, .decisions = previews(request, numbers, replays, now)};
  }
  if (waiting.kind == Plan::Kind::AlreadyDenied) {
    Replays unchanged = replays;
    Replayed outcome = take(request, numbers, unchanged, now);
    // denied by another limit: report the current numbers, not those after a charge
    if (outcome.passed) outcome.decisions = previews(request, numbers, replays, now);
    return outcome;
  }
  if (request.checks.size() > 1) return take(request, numbers, replays, now);
  const KeyCheck& check = request.checks.front();
  const Decision decision = replays[numbers.front()]->decide(check.quota, check.cost, now);
  return {.passed = decision.allowed(), .decisions = {decision}};
}

}  // namespace penstock::redis_store
