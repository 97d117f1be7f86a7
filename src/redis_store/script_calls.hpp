#pragma once

#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "redis/client.hpp"
#include "store/stores.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

// Commands with a single reply, and the parsing of those replies.
namespace penstock::redis_store {

using OnReply = std::function<void(const Result<resp::Value>&)>;

[[nodiscard]] std::unique_ptr<redis::Call> reply_call(OnReply on_reply);

// A call of a script with these keys and arguments.
[[nodiscard]] redis::Command script_command(const redis::Script& script,
                                            std::span<const std::string_view> keys,
                                            std::initializer_list<std::string_view> arguments);
// Any other command, to the server of this key.
[[nodiscard]] redis::Command command_for_key(std::string_view key,
                                             std::initializer_list<std::string_view> parts);
// Any other command, to this server.
[[nodiscard]] redis::Command command_for_node(redis::NodeId node,
                                              std::initializer_list<std::string_view> parts);

[[nodiscard]] Error malformed(std::string_view what);

// Parses `now` of a script.
[[nodiscard]] Result<Instant> read_instant(const resp::Value& value);
// Of reset.lua: whether any of the keys had usage.
[[nodiscard]] Result<bool> read_reset(const Result<resp::Value>& reply);
// Whether an integer is above zero.
[[nodiscard]] Result<bool> read_flag(const Result<resp::Value>& reply);
[[nodiscard]] Result<std::int64_t> read_integer(const Result<resp::Value>& reply);
// Of count.lua. `delta` was added; it is named in the error of an overflow.
[[nodiscard]] Result<std::int64_t> read_sum(const Result<resp::Value>& reply, std::int64_t delta);
// Of a counter that may be absent.
[[nodiscard]] Result<std::int64_t> read_count(const Result<resp::Value>& reply);
// Of heartbeat.lua and fleet.lua.
[[nodiscard]] Result<store::FleetState> read_fleet_state(const Result<resp::Value>& reply);
[[nodiscard]] Result<store::FleetReports> read_fleet_reports(const Result<resp::Value>& reply);
// Of counter_info.lua.
[[nodiscard]] Result<store::CounterValues> read_counter_values(const Result<resp::Value>& reply);

}  // namespace penstock::redis_store
