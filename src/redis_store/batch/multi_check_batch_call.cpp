#include "redis_store/batch/multi_check_batch_call.hpp"

#include "redis_store/batch/bucket_scripts.hpp"

#include <algorithm>
#include <utility>

namespace penstock::redis_store {

redis::Command MultiCheckBatchCall::command() {
  redis::Command command;
  if (batch_.kind == CallKind::Buckets) {
    command = buckets_command();
  } else {
    for (const WaitingRequest& waiting : batch_.requests) {
      key_of_check_.push_back(add_request(plan_, waiting.request, Plan::Kind::Take).of_checks);
    }
    command = decide_command(scripts_, plan_, Reads::OneAlgorithm);
  }
  command.slot = batch_.slot;
  command.deadline = batch_.deadline;
  return command;
}

bool MultiCheckBatchCall::fits(const MultiCheckRequest& request, const KeyNumbers& known) const {
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const auto found = known.find(request.checks[i].key);
    if (found != known.end() && limit_of_key_[found->second] != i) return false;
  }
  return true;
}

redis::Command MultiCheckBatchCall::buckets_command() {
  KeyNumbers known;
  PackedWriter order;
  bool is_in_order = true;
  for (const WaitingRequest& waiting : batch_.requests) {
    std::vector<Plan::KeyIndex>& numbers = key_of_check_.emplace_back();
    if (!fits(waiting.request, known)) continue;
    for (std::size_t i = 0; i < waiting.request.checks.size(); ++i) {
      const std::string& key = waiting.request.checks[i].key;
      const auto [found, is_new] =
          known.try_emplace(key, static_cast<Plan::KeyIndex>(keys_.size()));
      if (is_new) {
        keys_.emplace_back(key);
        limit_of_key_.push_back(i);
      }
      is_in_order = is_in_order && is_new;
      order.number(found->second + 1U, 2);
      numbers.push_back(found->second);
    }
  }
  PackedWriter limits;
  for (const KeyCheck& check : batch_.requests.front().request.checks) {
    limits.text(view(header_of(check.quota)));
    write_bucket(limits, check.quota, check.cost);
  }
  return script_command(scripts_.buckets_multi(), keys_,
                        {limits.bytes(), is_in_order ? std::string_view{} : order.bytes()});
}

void MultiCheckBatchCall::on_reply(Result<resp::Value> reply) {
  if (!reply) {
    fail(reply.error());
  } else if (batch_.kind == CallKind::Buckets) {
    read_buckets(*reply);
  } else {
    read_decided(*reply);
  }
}

void MultiCheckBatchCall::read_buckets(const resp::Value& reply) {
  if (reply.elements.size() != keys_.size() + 1) return fail(malformed("the states of other keys"));
  const Result<Instant> now = read_instant(reply.elements.back());
  if (!now) return fail(now.error());
  std::vector<std::pair<Quota, StateHeader>> limits;
  for (const KeyCheck& check : batch_.requests.front().request.checks) {
    limits.emplace_back(check.quota, header_of(check.quota));
  }
  std::vector<KeyReplay> replays(keys_.size());
  std::vector<bool> readable(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const auto& [quota, header] = limits[limit_of_key_[i]];
    std::optional<KeyReplay> replay = bucket_replay(reply.elements[i], quota, header);
    readable[i] = replay.has_value();
    if (replay) replays[i] = *std::move(replay);
  }
  for (std::size_t i = 0; i < batch_.requests.size(); ++i) {
    WaitingRequest& waiting = batch_.requests[i];
    const std::vector<Plan::KeyIndex>& numbers = key_of_check_[i];
    const bool was_decided =
        !numbers.empty() && std::all_of(numbers.begin(), numbers.end(),
                                        [&](Plan::KeyIndex number) { return readable[number]; });
    if (was_decided) {
      waiting.decided(take(waiting.request, numbers, replays, *now).decisions);
    } else {
      hooks_.ask_alone(std::move(waiting));
    }
  }
}

void MultiCheckBatchCall::read_decided(const resp::Value& reply) {
  const Result<DecideReply> decided = read_decide_reply(reply, plan_, batch_.requests.size());
  if (!decided) return fail(decided.error());
  std::vector<KeyReplay> replays = replays_of(*decided);
  for (std::size_t i = 0; i < batch_.requests.size(); ++i) {
    WaitingRequest& waiting = batch_.requests[i];
    if (decided->admitted[i] == DecideReply::kUnreadable) {
      hooks_.ask_alone(std::move(waiting));
      continue;
    }
    MultiCheckResult answer = take(waiting.request, key_of_check_[i], replays, decided->now);
    if (agrees(waiting.request, answer, decided->admitted[i])) {
      waiting.decided(std::move(answer.decisions));
    } else {
      waiting.decided(disagreement());
    }
  }
}

bool MultiCheckBatchCall::split() {
  if (batch_.requests.size() < 2) return false;
  for (WaitingRequest& waiting : batch_.requests) {
    MultiCheckBatch alone{
        .kind = batch_.kind, .slot = batch_.slot, .requests = {}, .deadline = waiting.deadline};
    alone.requests.push_back(std::move(waiting));
    hooks_.send(std::move(alone));
  }
  return true;
}

void MultiCheckBatchCall::fail(const Error& error) const {
  for (const WaitingRequest& waiting : batch_.requests) waiting.decided(error);
}

}  // namespace penstock::redis_store
