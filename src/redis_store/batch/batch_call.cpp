#include "redis_store/batch/batch_call.hpp"

#include "redis_store/batch/bucket_scripts.hpp"

#include <algorithm>
#include <string>

namespace penstock::redis_store {
namespace {

using Type = resp::Value::Type;

// Consecutive equal checks, which decide.lua receives as one request.
std::size_t run_length(const std::vector<WaitingCheck>& asked, std::size_t start) {
  std::size_t end = start + 1;
  while (end < asked.size() && asked[end].cost == asked[start].cost &&
         asked[end].quota == asked[start].quota) {
    ++end;
  }
  return end - start;
}

Plan::Kind kind_of(const WaitingCheck& check) {
  return check.cost.units > 0 ? Plan::Kind::Take : Plan::Kind::Peek;
}

Error disagreement(const KeyQueue& queue) {
  return {ErrorCode::Protocol, "the script and its C++ twin disagree about key \"" + queue.key +
                                   "\": different versions of the library?"};
}

}  // namespace

redis::Command BatchCall::command() {
  redis::Command command;
  if (batch_.kind == CallKind::Buckets) {
    command = buckets_command();
  } else {
    plan_requests();
    command = decide_command(scripts_, plan_, reads_);
  }
  command.slot = batch_.keys.front()->slot;
  command.deadline = batch_.deadline;
  return command;
}

redis::Command BatchCall::buckets_command() const {
  const WaitingCheck& first = batch_.keys.front()->asked.front();
  const Quota& quota = first.quota;
  PackedWriter numbers;
  write_bucket(numbers, quota, first.cost);
  std::vector<std::string_view> keys;
  keys.reserve(batch_.keys.size());
  bool all_once = true;
  for (const KeyQueue* queue : batch_.keys) {
    keys.emplace_back(queue->key);
    all_once = all_once && queue->asked.size() == 1;
  }
  PackedWriter counts;
  if (!all_once) {
    for (const KeyQueue* queue : batch_.keys) counts.number(queue->asked.size(), 4);
  }
  const StateHeader header = header_of(quota);
  return script_command(scripts_.buckets(), keys, {view(header), numbers.bytes(), counts.bytes()});
}

void BatchCall::plan_requests() {
  for (const KeyQueue* queue : batch_.keys) {
    const Plan::KeyIndex key = plan_.new_key(queue->key);
    for (std::size_t start = 0; start < queue->asked.size();) {
      const std::size_t length = run_length(queue->asked, start);
      const WaitingCheck& first = queue->asked[start];
      plan_.begin_request(kind_of(first), static_cast<std::uint32_t>(length));
      plan_.add_check(key, first.quota, first.cost);
      ++requests_;
      start += length;
    }
  }
}

void BatchCall::on_reply(Result<resp::Value> reply) {
  if (!reply) {
    fail(reply.error());
  } else if (batch_.kind == CallKind::Buckets) {
    read_buckets(*reply);
  } else {
    read_decided(*reply);
  }
}

void BatchCall::read_buckets(const resp::Value& reply) {
  const std::size_t keys = batch_.keys.size();
  if (reply.elements.size() != keys + 1) return fail(malformed("the states of other keys"));
  const Result<Instant> now = read_instant(reply.elements.back());
  if (!now) return fail(now.error());
  const Quota quota = batch_.keys.front()->asked.front().quota;
  const StateHeader header = header_of(quota);
  std::vector<KeyQueue*> others;
  for (std::size_t i = 0; i < keys; ++i) {
    KeyQueue& queue = *batch_.keys[i];
    std::optional<KeyReplay> replay = bucket_replay(reply.elements[i], quota, header);
    if (!replay) {
      others.push_back(&queue);
      continue;
    }
    for (WaitingCheck& check : queue.asked) {
      check.answer(replay->decide(quota, check.cost, *now));
    }
    hooks_.finish(queue);
  }
  if (!others.empty()) ask_again(std::move(others));
}

void BatchCall::read_decided(const resp::Value& reply) {
  const Result<DecideReply> decided = read_decide_reply(reply, plan_, requests_);
  if (!decided) return fail(decided.error());
  std::vector<KeyQueue*> others;
  std::size_t request = 0;
  for (std::size_t i = 0; i < batch_.keys.size(); ++i) {
    KeyQueue& queue = *batch_.keys[i];
    const Quota& quota = queue.asked.front().quota;
    const resp::Value& state = *decided->states[i];
    std::optional<KeyContent> content = KeyContent{};
    if (state.is(Type::String)) content = decode(state.text, quota, header_of(quota));
    bool readable = content.has_value();
    KeyReplay replay(readable ? *std::move(content) : KeyContent{});
    std::vector<Decision> decisions;
    bool agreed = true;
    for (std::size_t start = 0; start < queue.asked.size(); ++request) {
      const std::size_t length = run_length(queue.asked, start);
      const std::uint32_t admitted = decided->admitted[request];
      if (admitted == DecideReply::kUnreadable) readable = false;
      std::uint32_t allowed = 0;
      for (std::size_t n = 0; readable && n < length; ++n) {
        const WaitingCheck& check = queue.asked[start + n];
        decisions.push_back(replay.decide(check.quota, check.cost, decided->now));
        if (decisions.back().allowed() && check.cost.units > 0) ++allowed;
      }
      if (readable && allowed != admitted) agreed = false;
      start += length;
    }
    if (!readable && reads_ == Reads::OneAlgorithm) {
      others.push_back(&queue);
    } else if (!readable) {
      fail(queue,
           {ErrorCode::Protocol, "key \"" + queue.key + "\" holds no state of this version"});
    } else if (!agreed) {
      fail(queue, disagreement(queue));
    } else {
      for (std::size_t n = 0; n < decisions.size(); ++n) queue.asked[n].answer(decisions[n]);
      hooks_.finish(queue);
    }
  }
  if (!others.empty()) ask_again(std::move(others));
}

void BatchCall::ask_again(std::vector<KeyQueue*> keys) {
  CheckBatch batch{.kind = CallKind::Decide, .keys = std::move(keys), .deadline = batch_.deadline};
  hooks_.again(std::make_unique<BatchCall>(scripts_, std::move(batch), Reads::All, hooks_));
}

bool BatchCall::split() {
  if (batch_.keys.size() < 2) return false;
  for (KeyQueue* queue : batch_.keys) {
    CheckBatch alone{.kind = batch_.kind, .keys = {queue}, .deadline = batch_.deadline};
    hooks_.again(std::make_unique<BatchCall>(scripts_, std::move(alone), reads_, hooks_));
  }
  return true;
}

void BatchCall::fail(const Error& error) const {
  for (KeyQueue* queue : batch_.keys) fail(*queue, error);
}

void BatchCall::fail(KeyQueue& queue, const Error& error) const {
  for (WaitingCheck& check : queue.asked) check.answer(error);
  hooks_.finish(queue);
}

}  // namespace penstock::redis_store
