#pragma once

#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis_store/batch/plan.hpp"
#include "redis_store/scripts.hpp"
#include "resp/value.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock::redis_store {

// A call of a script with these keys and arguments.
[[nodiscard]] redis::Command script_command(const redis::Script& script,
                                            std::span<const std::string_view> keys,
                                            std::initializer_list<std::string_view> arguments);

// Which decide script: the short one of the plan's algorithm, or the one that reads the states of
// all algorithms.
enum class Reads : std::uint8_t { OneAlgorithm, All };

[[nodiscard]] redis::Command decide_command(const ScriptSet& scripts, const Plan& plan,
                                            Reads reads);

// The reply of decide.lua.
struct DecideReply {
  static constexpr std::uint32_t kUnreadable = 0xffff'ffff;

  Instant now{};
  std::vector<std::uint32_t> admitted{};     // per request of the plan; kUnreadable
  std::vector<const resp::Value*> states{};  // per key of the plan, into the reply
};

// REQUIRES: the reply outlives the result.
[[nodiscard]] Result<DecideReply> read_decide_reply(const resp::Value& reply, const Plan& plan,
                                                    std::size_t requests);

// Parses `now` of a script.
[[nodiscard]] Result<Instant> read_instant(const resp::Value& value);

[[nodiscard]] Error malformed(std::string_view what);

}  // namespace penstock::redis_store
