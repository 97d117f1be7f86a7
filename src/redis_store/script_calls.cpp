#include "redis_store/script_calls.hpp"

#include "base/text.hpp"
#include "redis/hash_slot.hpp"
#include "redis_store/replay/key_replay.hpp"
#include "resp/command.hpp"

#include <algorithm>
#include <string>

namespace penstock::redis_store {
namespace {

class ReplyCall final : public redis::Call {
 public:
  explicit ReplyCall(OnReply on_reply) : on_reply_(std::move(on_reply)) {}

  void on_reply(Result<resp::Value> reply) override { on_reply_(reply); }

 private:
  OnReply on_reply_;
};

Result<std::int64_t> parse_number(const std::string& text) {
  const std::optional<std::int64_t> number = base::parse_number<std::int64_t>(text);
  if (!number) return malformed("a counter that is not an integer: \"" + text + "\"");
  return *number;
}

}  // namespace

std::unique_ptr<redis::Call> reply_call(OnReply on_reply) {
  return std::make_unique<ReplyCall>(std::move(on_reply));
}

redis::Command script_command(const redis::Script& script, std::span<const std::string_view> keys,
                              std::initializer_list<std::string_view> arguments) {
  constexpr std::size_t kStartSize = 50;  // EVALSHA, the digest, the number of keys
  std::size_t text_size = kStartSize;
  for (const std::string_view key : keys) text_size += key.size();
  for (const std::string_view argument : arguments) text_size += argument.size();
  resp::CommandWriter writer(3 + keys.size() + arguments.size(), text_size);
  writer.add("EVALSHA").add(script.sha1).add_number(static_cast<std::int64_t>(keys.size()));
  for (const std::string_view key : keys) writer.add(key);
  for (const std::string_view argument : arguments) writer.add(argument);
  redis::Command command;
  command.bytes = std::move(writer).take();
  command.script = &script;
  return command;
}

redis::Command command_for_key(std::string_view key,
                               std::initializer_list<std::string_view> parts) {
  redis::Command command;
  command.bytes = resp::command(parts);
  command.slot = redis::hash_slot(key);
  return command;
}

redis::Command command_for_node(redis::NodeId node, std::initializer_list<std::string_view> parts) {
  redis::Command command;
  command.bytes = resp::command(parts);
  command.node = node;
  return command;
}

Error malformed(std::string_view what) {
  return {ErrorCode::Protocol, "malformed reply from a script: " + std::string(what)};
}

Result<Instant> read_instant(const resp::Value& value) {
  if (!value.is(resp::Value::Type::Integer) || value.integer < 0) {
    return malformed("invalid time \"" + value.text + "\"");
  }
  return Instant{Duration{value.integer}};
}

Result<bool> read_reset(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  if (reply->elements.empty()) return malformed("nothing");
  const Result<Instant> now = read_instant(reply->elements.front());
  if (!now) return now.error();
  bool any = false;
  for (std::size_t i = 1; i < reply->elements.size(); ++i) {
    const resp::Value& state = reply->elements[i];
    if (state.is(resp::Value::Type::Nil)) continue;
    std::optional<KeyContent> content = decode(state.text);
    // an unreadable state is removed as well
    any = any || !content || KeyReplay(*std::move(content)).is_used(*now);
  }
  return any;
}

Result<std::int64_t> read_integer(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  if (!reply->is(resp::Value::Type::Integer)) return malformed("not an integer");
  return reply->integer;
}

Result<bool> read_flag(const Result<resp::Value>& reply) {
  const Result<std::int64_t> number = read_integer(reply);
  if (!number) return number.error();
  return *number > 0;
}

Result<std::int64_t> read_sum(const Result<resp::Value>& reply, std::int64_t delta) {
  if (!reply) {
    const std::string& detail = reply.error().detail;
    if (detail.find("overflow") == std::string::npos) return reply.error();
    return Error{ErrorCode::Overflow,
                 "adding " + std::to_string(delta) + " would leave the range of 64 bits"};
  }
  return parse_number(reply->text);
}

Result<std::int64_t> read_count(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  if (reply->is(resp::Value::Type::Nil)) return std::int64_t{0};
  return parse_number(reply->text);
}

Result<store::FleetState> read_fleet_state(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  const std::vector<resp::Value>& parts = reply->elements;
  if (parts.size() != 2 || !parts[0].is(resp::Value::Type::Integer)) {
    return malformed("not a number of nodes");
  }
  return store::FleetState{.nodes = parts[0].integer, .is_watched = parts[1].integer == 1};
}

Result<store::FleetReports> read_fleet_reports(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  if (reply->elements.size() != 2) return malformed("no reports of nodes");
  store::FleetReports reports;
  for (const resp::Value& each : reply->elements[0].elements) {
    reports.summaries.push_back(each.text);
  }
  for (const resp::Value& each : reply->elements[1].elements) {
    reports.histories.push_back(each.text);
  }
  return reports;
}

Result<store::CounterValues> read_counter_values(const Result<resp::Value>& reply) {
  using Type = resp::Value::Type;
  if (!reply) return reply.error();
  const std::vector<resp::Value>& parts = reply->elements;
  if (parts.size() != 4) return malformed("not two counters");
  store::CounterValues pair{.lifetime = Duration{0}};
  for (std::size_t i = 0; i < 2; ++i) {
    const resp::Value& value = parts[2 * i];
    const resp::Value& left = parts[2 * i + 1];
    if (value.is(Type::Nil)) continue;
    const Result<std::int64_t> number = parse_number(value.text);
    if (!number) return number.error();
    if (!left.is(Type::Integer)) return malformed("a counter without a lifetime");
    (i == 0 ? pair.integer : pair.decimal) = *number;
    if (left.integer < 0) {
      pair.lifetime.reset();
    } else if (pair.lifetime) {
      pair.lifetime = std::max<Duration>(*pair.lifetime, std::chrono::milliseconds{left.integer});
    }
  }
  return pair;
}

}  // namespace penstock::redis_store
