#include "bench/program/redis_contenders.hpp"

#include "audit/redis_access.hpp"
#include "bench/key_text.hpp"
#include "bench/naive_token_bucket_lua.hpp"
#include "redis_store/script_calls.hpp"

#include <algorithm>
#include <vector>

namespace penstock::bench {
namespace {

using redis_store::command_for_key;
using redis_store::command_for_node;

constexpr const char* kCounterSeconds = "3600";
constexpr std::uint32_t kCountersPerCall = 1000;

std::string key_of(const std::string& prefix, std::string_view key) {
  std::string name = prefix;
  name += ":{";
  name += key;
  name += '}';
  return name;
}

}  // namespace

std::optional<Error> CommandContender::check(std::span<const std::string_view> keys,
                                             std::span<Answer> answers) {
  std::vector<redis::Command> commands;
  commands.reserve(keys.size());
  for (const std::string_view key : keys) commands.push_back(command(key_of(key_prefix_, key)));
  const std::vector<Result<resp::Value>> replies = store_.commands(std::move(commands), timeout_);
  std::optional<Error> failure;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    answers[i] = replies[i] ? read(*replies[i]) : Answer::Failed;
    if (!replies[i] && !failure) failure = replies[i].error();
  }
  return failure;
}

Result<std::unique_ptr<NaiveContender>> NaiveContender::make(redis_store::BlockingStore& store,
                                                             const std::string& key_prefix,
                                                             const Quota& quota, Duration timeout) {
  std::unique_ptr<NaiveContender> naive(new NaiveContender(store, key_prefix, timeout));
  for (const redis::NodeId node : store.masters()) {
    Result<resp::Value> sha1 = audit::execute_one(
        store, command_for_node(node, {"SCRIPT", "LOAD", kNaiveTokenBucket}), timeout);
    if (!sha1) return sha1.error();
    naive->sha1_ = std::move(sha1->text);
  }
  const double period = std::chrono::duration<double>(quota.period()).count();
  naive->rate_ = std::to_string(quota.limit() / period);
  naive->capacity_ = std::to_string(quota.capacity());
  return naive;
}

redis::Command NaiveContender::command(const std::string& key) const {
  return command_for_key(key, {"EVALSHA", sha1_, "1", key, rate_, capacity_, "1"});
}

Answer NaiveContender::read(const resp::Value& reply) const {
  return reply.integer == 1 ? Answer::Admitted : Answer::Denied;
}

Result<void> IncrContender::make_counters(std::uint32_t keys) {
  KeyText text;
  for (std::uint32_t made = 0; made < keys;) {
    std::vector<redis::Command> commands;
    const std::uint32_t until = std::min(keys, made + kCountersPerCall);
    for (; made < until; ++made) {
      const std::string key = key_of(key_prefix_, text.write(made));
      commands.push_back(command_for_key(key, {"SET", key, "0", "EX", kCounterSeconds}));
    }
    const auto set = audit::execute_all(store_, std::move(commands), timeout_);
    if (!set) return set.error();
  }
  return {};
}

redis::Command IncrContender::command(const std::string& key) const {
  return command_for_key(key, {"INCR", key});
}

Answer IncrContender::read(const resp::Value& /*reply*/) const { return Answer::Admitted; }

}  // namespace penstock::bench
