#include "redis_store/together_call.hpp"

#include "core/strictest.hpp"
#include "redis/hash_slot.hpp"
#include "redis_store/small_calls.hpp"

#include <algorithm>

namespace penstock::redis_store {
namespace {

// Checks of one limit: the same one several times costs the sum.
struct Summed {
  const KeyCheck* check = nullptr;
  Plan::KeyIndex key = 0;
  Cost cost{0};
  bool looks_after = false;  // the last of them looks, after what the others take
};

}  // namespace

TogetherQuestion::TogetherQuestion(TogetherRequest request, Plan::Kind kind)
    : request_(std::move(request)), kind_(kind) {
  plan();
}

void TogetherQuestion::plan() {
  std::vector<Summed> distinct;
  for (const KeyCheck& check : request_.checks) {
    const Plan::KeyIndex key = plan_.key(check.key);
    key_of_check_.push_back(key);
    auto known = std::find_if(distinct.begin(), distinct.end(),
                              [&](const Summed& each) { return each.key == key; });
    if (known == distinct.end()) {
      known = distinct.insert(distinct.end(), {.check = &check, .key = key});
    }
    known->looks_after = check.cost.units == 0 && known->cost.units > 0;
    known->cost = core::plus(known->cost, check.cost);
  }
  plan_.begin_request(kind_);
  if (!request_.guard.empty()) {
    guard_ = plan_.key(request_.guard);
    plan_.add_guard(*guard_);
  }
  for (const Summed& each : distinct) {
    plan_.add_check(each.key, each.check->quota, each.cost);
    if (each.looks_after && kind_ != Plan::Kind::GiveBack) {
      plan_.add_look(each.key, each.check->quota, core::plus(each.cost, Cost{1}));
    }
  }
}

redis::Command TogetherQuestion::command(const ScriptSet& scripts, Reads reads) const {
  redis::Command command = decide_command(scripts, plan_, reads);
  command.slot = redis::hash_slot(request_.checks.front().key);
  return command;
}

Result<std::optional<TogetherAnswer>> TogetherQuestion::read(const resp::Value& reply) const {
  const Result<Verdict> verdict = read_verdict(reply, plan_, 1);
  if (!verdict) return verdict.error();
  if (verdict->admitted.front() == Verdict::kUnreadable) return std::optional<TogetherAnswer>{};
  std::vector<KeyReplay> keys(plan_.key_count());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!verdict->states[i]->is(resp::Value::Type::String)) continue;
    std::optional<KeyContent> content = decode(verdict->states[i]->text);
    // only a guard may hold what these limits cannot read
    if (content) keys[i] = KeyReplay(*std::move(content));
  }
  TogetherAnswer answer = replay(keys, verdict->now);
  const bool admitted = verdict->admitted.front() > 0;
  const bool takes = std::any_of(request_.checks.begin(), request_.checks.end(),
                                 [](const KeyCheck& check) { return check.cost.units > 0; });
  if (kind_ == Plan::Kind::Take && takes && admitted != answer.passed) {
    return Error{ErrorCode::Protocol,
                 "the script and its replay disagree: different versions of the library?"};
  }
  return std::optional<TogetherAnswer>(std::move(answer));
}

TogetherAnswer TogetherQuestion::replay(std::vector<KeyReplay>& keys, Instant now) const {
  if (guard_ && keys[*guard_].is_blocked(now)) {
    for (KeyReplay& key : keys) key.block_until(keys[*guard_].blocked_until());
  }
  TogetherAnswer answer;
  answer.decisions.resize(request_.checks.size());
  if (kind_ == Plan::Kind::GiveBack) {
    for (std::size_t i = 0; i < request_.checks.size(); ++i) {
      const KeyCheck& check = request_.checks[i];
      keys[key_of_check_[i]].refund(check.quota, check.cost, now);
    }
    for (std::size_t i = 0; i < request_.checks.size(); ++i) {
      answer.decisions[i] = keys[key_of_check_[i]].preview(request_.checks[i].quota, Cost{0}, now);
    }
    answer.passed = true;
    return answer;
  }
  std::vector<TogetherCheck> checks;
  for (std::size_t i = 0; i < request_.checks.size(); ++i) {
    const KeyCheck& check = request_.checks[i];
    checks.push_back({.key = &keys[key_of_check_[i]], .quota = &check.quota, .cost = check.cost});
  }
  const std::vector<KeyReplay> before = keys;
  answer.passed = decide_together(checks, answer.decisions, now);
  if (kind_ == Plan::Kind::Refuse && answer.passed) {
    // refused by another limit: show what these have, not what they would have had
    for (std::size_t i = 0; i < request_.checks.size(); ++i) {
      answer.decisions[i] =
          before[key_of_check_[i]].preview(request_.checks[i].quota, Cost{0}, now);
    }
  }
  return answer;
}

namespace {

void ask(redis::Client& client, const ScriptSet& scripts,
         const std::shared_ptr<const TogetherQuestion>& question, base::Deadline deadline,
         Reads reads, TogetherAnswered answered) {
  redis::Command command = question->command(scripts, reads);
  command.deadline = deadline;
  auto on_reply = [&client, &scripts, question, deadline, reads,
                   answered = std::move(answered)](const Result<resp::Value>& reply) {
    if (!reply) return answered(reply.error());
    Result<std::optional<TogetherAnswer>> answer = question->read(*reply);
    if (!answer) return answered(answer.error());
    if (answer->has_value()) return answered(**std::move(answer));
    if (reads == Reads::OneAlgorithm) {
      return ask(client, scripts, question, deadline, Reads::All, answered);
    }
    answered(Error{ErrorCode::Protocol,
                   "a key of the request holds something that is not a state of this version"});
  };
  client.send(std::move(command), reply_call(std::move(on_reply)));
}

}  // namespace

void ask(redis::Client& client, const ScriptSet& scripts,
         const std::shared_ptr<const TogetherQuestion>& question, base::Deadline deadline,
         TogetherAnswered answered) {
  ask(client, scripts, question, deadline, Reads::OneAlgorithm, std::move(answered));
}

}  // namespace penstock::redis_store
