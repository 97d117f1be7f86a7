#include "redis_store/batch/decide_command.hpp"

#include "redis_store/replay/packed.hpp"
#include "resp/command.hpp"

#include <string>

namespace penstock::redis_store {

redis::Command script_command(const redis::Script& script, std::span<const std::string_view> keys,
                              std::initializer_list<std::string_view> arguments) {
  resp::CommandWriter writer(3 + keys.size() + arguments.size());
  writer.add("EVALSHA").add(script.sha1).add_number(static_cast<std::int64_t>(keys.size()));
  for (const std::string_view key : keys) writer.add(key);
  for (const std::string_view argument : arguments) writer.add(argument);
  redis::Command command;
  command.bytes = std::move(writer).take();
  command.script = &script;
  return command;
}

redis::Command decide_command(const ScriptSet& scripts, const Plan& plan, Reads reads) {
  const bool one = reads == Reads::OneAlgorithm && plan.is_of_one_algorithm();
  const Plan::Order order = plan.order();
  return script_command(one ? scripts.decide(plan.algorithm()) : scripts.decide_any(), order.keys,
                        {plan.packed(order)});
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

Result<DecideReply> read_decide_reply(const resp::Value& reply, const Plan& plan,
                                      std::size_t requests) {
  if (reply.elements.size() != plan.key_count() + 2) {
    return malformed(std::to_string(reply.elements.size()) + " values instead of " +
                     std::to_string(plan.key_count() + 2));
  }
  const Result<Instant> now = read_instant(reply.elements[0]);
  if (!now) return now.error();
  const std::string& admitted = reply.elements[1].text;
  if (admitted.size() != 4 * requests) return malformed("the admissions of other requests");
  DecideReply decided;
  decided.now = *now;
  PackedReader reader(admitted);
  for (std::size_t i = 0; i < requests; ++i) {
    decided.admitted.push_back(static_cast<std::uint32_t>(reader.number(4)));
  }
  const Plan::Order order = plan.order();
  for (std::size_t i = 0; i < plan.key_count(); ++i) {
    decided.states.push_back(&reply.elements[order.position[i] + 2]);
  }
  return decided;
}

}  // namespace penstock::redis_store
