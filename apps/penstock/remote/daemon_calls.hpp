#pragma once

#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Requests about one key, and their responses: docs/reference/http-api.md.
namespace penstock::app {

// The limits of the key: of a rule, of a domain, or (both empty) of /v1/take.
struct KeyScope {
  std::string_view rule{};
  std::string_view domain{};
  std::string_view reason{};  // of a change, for the action log
};

// Fails for a key that is not UTF-8, which JSON cannot represent.
[[nodiscard]] Result<DaemonCall> take_call(std::string_view key, const Quota& quota, Cost cost);
// `quota` is for keys of /v1/take; rules have their own.
[[nodiscard]] DaemonCall peek_call(std::string_view key, const KeyScope& scope,
                                   const std::optional<Quota>& quota);
[[nodiscard]] DaemonCall reset_call(std::string_view key, const KeyScope& scope);
[[nodiscard]] DaemonCall block_call(std::string_view key, const KeyScope& scope, Duration duration);
[[nodiscard]] DaemonCall unblock_call(std::string_view key, const KeyScope& scope);

// A quota in a response, which may be a limit of 0.
[[nodiscard]] Result<Quota> parse_shown_quota(std::string_view text);

// The state of one limit, from a daemon. Times are whole milliseconds.
struct LimitState {
  std::string rule{};  // "api/search", followed by the limit if the rule has several
  Quota quota;
  Decision decision{};
};

// One limit of a decision: a member of `limits`.
[[nodiscard]] Result<LimitState> read_limit_state(const nlohmann::ordered_json& json);
// All limits in the response to take_call or peek_call; at least one.
[[nodiscard]] Result<std::vector<LimitState>> read_limit_states(const DaemonAnswer& answer);

// The boolean member of the other responses.
[[nodiscard]] Result<bool> read_flag(const DaemonAnswer& answer, const char* member);

}  // namespace penstock::app
