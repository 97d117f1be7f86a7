#include "audit/redis_access.hpp"

#include "audit/audit.hpp"
#include "base/text.hpp"
#include "redis_store/requests.hpp"
#include "redis_store/script_calls.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

namespace penstock::audit {
namespace {

using redis_store::command_for_key;
using redis_store::command_for_node;

Error unexpected(std::string_view command) {
  return {ErrorCode::Protocol, "malformed reply to " + std::string(command)};
}

}  // namespace

Result<std::unique_ptr<redis_store::BlockingStore>> connect(const RedisOptions& options) {
  Result<redis::Options> client = redis_store::client_options(options);
  if (!client) return client.error();
  auto store = std::make_unique<redis_store::BlockingStore>(options, *std::move(client));
  const Result<resp::Value> pong =
      execute_one(*store, command_for_key("", {"PING"}), options.connect_timeout);
  if (!pong) return pong.error();
  return store;
}

std::string shown_url(const RedisOptions& options) {
  const Result<redis::Options> client = redis_store::client_options(options);
  return client ? to_string(client->url) : "redis";
}

Result<std::vector<resp::Value>> execute_all(redis_store::BlockingStore& store,
                                             std::vector<redis::Command> commands,
                                             Duration timeout) {
  std::vector<resp::Value> values;
  values.reserve(commands.size());
  for (Result<resp::Value>& reply : store.commands(std::move(commands), timeout)) {
    if (!reply) return reply.error();
    values.push_back(*std::move(reply));
  }
  return values;
}

Result<resp::Value> execute_one(redis_store::BlockingStore& store, redis::Command command,
                                Duration timeout) {
  std::vector<redis::Command> commands;
  commands.push_back(std::move(command));
  return std::move(store.commands(std::move(commands), timeout).front());
}

Result<void> scan(redis_store::BlockingStore& store, const Scan& which, Duration timeout,
                  const OnPage& on_page) {
  const std::string pattern = which.prefix + "*";
  const std::string page = std::to_string(which.page);
  std::string cursor = "0";
  do {
    const Result<resp::Value> reply = execute_one(
        store, command_for_node(which.node, {"SCAN", cursor, "MATCH", pattern, "COUNT", page}),
        timeout);
    if (!reply) return reply.error();
    if (reply->elements.size() != 2) return unexpected("SCAN");
    cursor = reply->elements[0].text;
    std::vector<std::string> keys;
    for (const resp::Value& key : reply->elements[1].elements) keys.push_back(key.text);
    const Result<void> handled = on_page(keys);
    if (!handled) return handled.error();
  } while (cursor != "0");
  return {};
}

Result<std::uint64_t> delete_keys(redis_store::BlockingStore& store, const std::string& prefix,
                                  Duration timeout) {
  std::uint64_t deleted = 0;
  const auto unlink = [&](std::span<const std::string> keys) -> Result<void> {
    std::vector<redis::Command> commands;
    for (const std::string& key : keys) commands.push_back(command_for_key(key, {"UNLINK", key}));
    const auto unlinked = execute_all(store, std::move(commands), timeout);
    if (!unlinked) return unlinked.error();
    deleted += keys.size();
    return {};
  };
  for (const redis::NodeId node : store.masters()) {
    const Result<void> scanned = scan(store, {.node = node, .prefix = prefix}, timeout, unlink);
    if (!scanned) return scanned.error();
  }
  return deleted;
}

Result<std::chrono::microseconds> server_cpu(redis_store::BlockingStore& store, Duration timeout) {
  std::vector<redis::Command> commands;
  for (const redis::NodeId node : store.masters()) {
    commands.push_back(command_for_node(node, {"INFO", "cpu"}));
  }
  const Result<std::vector<resp::Value>> replies = execute_all(store, std::move(commands), timeout);
  if (!replies) return replies.error();
  double sum = 0;
  for (const resp::Value& reply : *replies) {
    const auto user = base::parse_number<double>(info_field(reply.text, "used_cpu_user"));
    const auto system = base::parse_number<double>(info_field(reply.text, "used_cpu_sys"));
    if (!user || !system) return unexpected("INFO cpu");
    sum += *user + *system;
  }
  return std::chrono::microseconds{std::llround(sum * 1e6)};
}

std::optional<Instant> instant_of(const resp::Value& time) {
  if (time.elements.size() != 2) return std::nullopt;
  const auto seconds = base::parse_number<std::int64_t>(time.elements[0].text);
  const auto microseconds = base::parse_number<std::int64_t>(time.elements[1].text);
  if (!seconds || !microseconds) return std::nullopt;
  return Instant{std::chrono::seconds{*seconds} + Duration{*microseconds}};
}

std::string unique_prefix(std::string_view purpose) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kLength = 8;
  std::random_device random;
  std::string prefix = std::string(purpose) + "-";
  for (int i = 0; i < kLength; ++i) prefix += kDigits[random() % kDigits.size()];
  return prefix;
}

using SteadyClock = std::chrono::steady_clock;

Pace::Pace(std::uint64_t per_second) : per_second_(per_second), next_(SteadyClock::now()) {}

void Pace::wait_for(std::uint64_t count) {
  if (per_second_ == 0) return;
  const SteadyClock::time_point now = SteadyClock::now();
  std::this_thread::sleep_until(next_);
  // unused time does not accumulate
  next_ = std::max(next_, now) + std::chrono::nanoseconds{count * 1'000'000'000 / per_second_};
}

}  // namespace penstock::audit
