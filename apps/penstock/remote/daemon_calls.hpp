#pragma once

#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What commands about one key ask a daemon, and what they make of its answers: docs/http-api.md.
namespace penstock::app {

// Which counts of the key: at most one of them is given, else that of /v1/take.
struct KeyScope {
  std::string_view rule{};
  std::string_view domain{};
};

// The error is of a key that is not UTF-8: JSON cannot hold its bytes.
[[nodiscard]] Result<DaemonCall> take_call(std::string_view key, const Quota& quota, Cost cost);
// The quota of a key of /v1/take; rules have their own.
[[nodiscard]] DaemonCall peek_call(std::string_view key, const KeyScope& scope,
                                   const std::optional<Quota>& quota);
[[nodiscard]] DaemonCall reset_call(std::string_view key, const KeyScope& scope);
[[nodiscard]] DaemonCall block_call(std::string_view key, const KeyScope& scope, Duration duration);
[[nodiscard]] DaemonCall unblock_call(std::string_view key, const KeyScope& scope);

// One count, as a daemon told it. Times are whole milliseconds.
struct LimitState {
  std::string rule{};  // "api/search", with the name of the limit where there are several
  Quota quota;
  Decision decision{};
};

// All counts of an answer to take_call or peek_call; there is at least one.
[[nodiscard]] Result<std::vector<LimitState>> read_limit_states(const DaemonAnswer& answer);

// A yes or no of the other calls.
[[nodiscard]] Result<bool> read_flag(const DaemonAnswer& answer, const char* member);

}  // namespace penstock::app
