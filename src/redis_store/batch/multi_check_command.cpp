#include "redis_store/batch/multi_check_command.hpp"

#include "core/decide_all.hpp"
#include "redis/hash_slot.hpp"
#include "redis_store/small_calls.hpp"

#include <algorithm>

namespace penstock::redis_store {
namespace {

// One check of a request, for core::find_pending().
struct PlannedCheck {
  Plan::KeyIndex index = 0;
  const Quota* quota = nullptr;
  Cost cost;
  Cost pending{0};

  [[nodiscard]] Plan::KeyIndex key() const noexcept { return index; }
};

}  // namespace

PlannedRequestKeys add_request(Plan& plan, const MultiCheckRequest& request, Plan::Kind kind) {
  PlannedRequestKeys keys;
  std::vector<PlannedCheck> checks;
  checks.reserve(request.checks.size());
  for (const KeyCheck& check : request.checks) {
    const Plan::KeyIndex key = plan.key(check.key);
    keys.of_checks.push_back(key);
    checks.push_back({.index = key, .quota = &check.quota, .cost = check.cost});
  }
  core::find_pending(std::span(checks));
  plan.begin_request(kind);
  if (!request.guard.empty()) {
    keys.guard = plan.key(request.guard);
    plan.add_guard(*keys.guard);
  }
  for (const PlannedCheck& check : checks) {
    plan.add_check(check.key(), *check.quota, check.cost);
    if (kind == Plan::Kind::Refund || check.pending.units == 0) continue;
    plan.add_peek(check.key(), *check.quota, core::required_cost(check));
  }
  return keys;
}

std::vector<KeyReplay> replays_of(const DecideReply& decided) {
  std::vector<KeyReplay> keys(decided.states.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!decided.states[i]->is(resp::Value::Type::String)) continue;
    std::optional<KeyContent> content = decode(decided.states[i]->text);
    // for a decided request, only a guard may hold a state that these limits cannot read
    if (content) keys[i] = KeyReplay(*std::move(content));
  }
  return keys;
}

MultiCheckResult take(const MultiCheckRequest& request,
                      std::span<const Plan::KeyIndex> key_of_check, std::vector<KeyReplay>& keys,
                      Instant now) {
  std::vector<ReplayedCheck> checks;
  checks.reserve(request.checks.size());
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const KeyCheck& check = request.checks[i];
    checks.push_back({.replay = &keys[key_of_check[i]], .quota = &check.quota, .cost = check.cost});
  }
  core::find_pending(std::span(checks));
  MultiCheckResult answer;
  answer.decisions.resize(request.checks.size());
  answer.passed = core::decide_all(std::span(checks), std::span(answer.decisions), now);
  return answer;
}

bool agrees(const MultiCheckRequest& request, const MultiCheckResult& answer,
            std::uint32_t admitted) {
  const bool takes = std::any_of(request.checks.begin(), request.checks.end(),
                                 [](const KeyCheck& check) { return check.cost.units > 0; });
  return !takes || answer.passed == (admitted > 0);
}

Error disagreement() {
  return {ErrorCode::Protocol,
          "the script and its C++ twin disagree: different versions of the library?"};
}

MultiCheckCommand::MultiCheckCommand(MultiCheckRequest request, Plan::Kind kind)
    : request_(std::move(request)), kind_(kind), keys_(add_request(plan_, request_, kind)) {}

redis::Command MultiCheckCommand::command(const ScriptSet& scripts, Reads reads) const {
  redis::Command command = decide_command(scripts, plan_, reads);
  command.slot = redis::hash_slot(request_.checks.front().key);
  return command;
}

Result<std::optional<MultiCheckResult>> MultiCheckCommand::read(const resp::Value& reply) const {
  const Result<DecideReply> decided = read_decide_reply(reply, plan_, 1);
  if (!decided) return decided.error();
  if (decided->admitted.front() == DecideReply::kUnreadable)
    return std::optional<MultiCheckResult>{};
  std::vector<KeyReplay> keys = replays_of(*decided);
  MultiCheckResult answer = replay(keys, decided->now);
  if (kind_ == Plan::Kind::Take && !agrees(request_, answer, decided->admitted.front())) {
    return disagreement();
  }
  return std::optional<MultiCheckResult>(std::move(answer));
}

MultiCheckResult MultiCheckCommand::replay(std::vector<KeyReplay>& keys, Instant now) const {
  if (keys_.guard && keys[*keys_.guard].is_blocked(now)) {
    for (KeyReplay& key : keys) key.block_until(keys[*keys_.guard].blocked_until());
  }
  if (kind_ == Plan::Kind::Refund) {
    MultiCheckResult answer{.passed = true, .decisions{}};
    answer.decisions.resize(request_.checks.size());
    for (std::size_t i = 0; i < request_.checks.size(); ++i) {
      const KeyCheck& check = request_.checks[i];
      keys[keys_.of_checks[i]].refund(check.cost, now);
    }
    for (std::size_t i = 0; i < request_.checks.size(); ++i) {
      answer.decisions[i] =
          keys[keys_.of_checks[i]].preview(request_.checks[i].quota, Cost{0}, now);
    }
    return answer;
  }
  const std::vector<KeyReplay> before = keys;
  MultiCheckResult answer = take(request_, keys_.of_checks, keys, now);
  if (kind_ == Plan::Kind::AlreadyDenied && answer.passed) {
    // denied by another limit: report the current numbers, not those after a charge
    for (std::size_t i = 0; i < request_.checks.size(); ++i) {
      answer.decisions[i] =
          before[keys_.of_checks[i]].preview(request_.checks[i].quota, Cost{0}, now);
    }
  }
  return answer;
}

namespace {

void ask(redis::Client& client, const ScriptSet& scripts,
         const std::shared_ptr<const MultiCheckCommand>& question, base::Deadline deadline,
         Reads reads, OnMultiCheckResult answered) {
  redis::Command command = question->command(scripts, reads);
  command.deadline = deadline;
  auto on_reply = [&client, &scripts, question, deadline, reads,
                   answered = std::move(answered)](const Result<resp::Value>& reply) {
    if (!reply) return answered(reply.error());
    Result<std::optional<MultiCheckResult>> answer = question->read(*reply);
    if (!answer) return answered(answer.error());
    if (answer->has_value()) return answered(**std::move(answer));
    if (reads == Reads::OneAlgorithm) {
      return ask(client, scripts, question, deadline, Reads::All, answered);
    }
    answered(Error{ErrorCode::Protocol, "a key of the request holds no state of this version"});
  };
  client.send(std::move(command), reply_call(std::move(on_reply)));
}

}  // namespace

void ask(redis::Client& client, const ScriptSet& scripts,
         const std::shared_ptr<const MultiCheckCommand>& question, base::Deadline deadline,
         OnMultiCheckResult answered) {
  ask(client, scripts, question, deadline, Reads::OneAlgorithm, std::move(answered));
}

}  // namespace penstock::redis_store
