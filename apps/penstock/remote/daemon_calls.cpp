#include "apps/penstock/remote/daemon_calls.hpp"

#include "apps/penstock/remote/daemon_access.hpp"
#include "apps/penstock/text/decision_text.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

std::string path_of(std::string_view key) { return "/v1/keys/" + percent_encoded(key); }

// As a query string.
std::string query_of(const KeyScope& scope, const std::optional<Quota>& quota) {
  std::string query;
  const auto add = [&](const char* name, std::string_view value) {
    if (value.empty()) return;
    query += (query.empty() ? "?" : "&") + std::string(name) + "=" + percent_encoded(value);
  };
  add("rule", scope.rule);
  add("domain", scope.domain);
  if (quota) add("limit", to_string(*quota));
  add("reason", scope.reason);
  return query;
}

// As members of a JSON body.
Json body_of(const KeyScope& scope) {
  Json json = Json::object();
  if (!scope.rule.empty()) json["rule"] = scope.rule;
  if (!scope.domain.empty()) json["domain"] = scope.domain;
  if (!scope.reason.empty()) json["reason"] = scope.reason;
  return json;
}

Error unexpected(const char* member) {
  return {ErrorCode::Protocol, "malformed response of the daemon: \"" + std::string(member) + "\""};
}

Result<std::string> text_in(const Json& json, const char* member) {
  const auto found = json.find(member);
  if (found == json.end() || !found->is_string()) return unexpected(member);
  return found->get<std::string>();
}

Result<std::uint64_t> number_in(const Json& json, const char* member, std::uint64_t most) {
  const auto found = json.find(member);
  if (found == json.end() || !found->is_number_unsigned()) return unexpected(member);
  const auto number = found->get<std::uint64_t>();
  if (number > most) return unexpected(member);
  return number;
}

// Saturates at the maximum Duration.
Result<Duration> milliseconds_in(const Json& json, const char* member) {
  const Result<std::uint64_t> count =
      number_in(json, member, static_cast<std::uint64_t>(Duration::max() / milliseconds{1}));
  if (!count) return count.error();
  return Duration{milliseconds{*count}};
}

Result<Decision> decision_in(const Json& json) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  const Result<std::string> outcome = text_in(json, "outcome");
  if (!outcome) return outcome.error();
  const Result<std::uint64_t> limit = number_in(json, "limit", kMax);
  if (!limit) return limit.error();
  const Result<std::uint64_t> remaining = number_in(json, "remaining", kMax);
  if (!remaining) return remaining.error();
  const Result<Duration> reset = milliseconds_in(json, "reset_after_ms");
  if (!reset) return reset.error();
  const auto most = static_cast<std::uint32_t>(*limit);
  const auto left = static_cast<std::uint32_t>(*remaining);
  if (*outcome == to_string(Outcome::Allowed)) return Decision::allow(most, left, *reset);
  if (*outcome == to_string(Outcome::NeverFits)) return Decision::never_fits(most, left, *reset);
  const Result<Duration> retry = milliseconds_in(json, "retry_after_ms");
  if (!retry) return retry.error();
  if (*outcome == to_string(Outcome::Denied)) return Decision::deny(most, left, *reset, *retry);
  if (*outcome == to_string(Outcome::Blocked)) return Decision::block(most, *retry);
  return unexpected("outcome");
}

}  // namespace

Result<DaemonCall> take_call(std::string_view key, const Quota& quota, Cost cost) {
  const Json body{{"key", key}, {"limit", to_string(quota)}, {"cost", cost.units}};
  try {
    return DaemonCall{.method = "POST", .target = "/v1/take", .body = body.dump()};
  } catch (const Json::type_error&) {
    return Error{ErrorCode::InvalidInput,
                 "KEY must be UTF-8 with --server; it is \"" + percent_encoded(key) + "\""};
  }
}

DaemonCall peek_call(std::string_view key, const KeyScope& scope,
                     const std::optional<Quota>& quota) {
  return {.method = "GET", .target = path_of(key) + query_of(scope, quota)};
}

DaemonCall reset_call(std::string_view key, const KeyScope& scope) {
  return {.method = "DELETE", .target = path_of(key) + query_of(scope, std::nullopt)};
}

DaemonCall block_call(std::string_view key, const KeyScope& scope, Duration duration) {
  Json body = body_of(scope);
  body["for"] = std::to_string(std::chrono::ceil<milliseconds>(duration).count()) + "ms";
  return {.method = "POST", .target = path_of(key) + "/block", .body = json_text(body)};
}

DaemonCall unblock_call(std::string_view key, const KeyScope& scope) {
  return {.method = "POST", .target = path_of(key) + "/unblock", .body = json_text(body_of(scope))};
}

Result<Quota> parse_shown_quota(std::string_view text) {
  const Result<QuotaSpec> spec = QuotaSpec::parse(text);
  if (!spec || spec->limit != 0) return Quota::parse(text);
  const Result<Quota> period = Quota::make(per(1, spec->period).fixed_window());
  return period ? Result<Quota>(Quota::none(spec->period)) : period;
}

Result<LimitState> read_limit_state(const Json& json) {
  if (!json.is_object()) return unexpected("limits");
  const Result<std::string> text = text_in(json, "quota");
  if (!text) return text.error();
  const Result<Quota> quota = parse_shown_quota(*text);
  if (!quota) return unexpected("quota");
  const Result<Decision> decision = decision_in(json);
  if (!decision) return decision.error();
  LimitState state{.quota = *quota, .decision = *decision};
  for (const char* member : {"rule", "name"}) {
    const Result<std::string> part = text_in(json, member);
    if (part) state.rule += (state.rule.empty() ? "" : "/") + *part;
  }
  return state;
}

Result<std::vector<LimitState>> read_limit_states(const DaemonAnswer& answer) {
  // the problem document of a denial contains the decision
  const Json json = Json::parse(answer.body, nullptr, false);
  const bool decided = answer.status == 200 || answer.status == 429;
  const auto limits = json.is_object() ? json.find("limits") : json.end();
  if (!decided || limits == json.end() || !limits->is_array() || limits->empty()) {
    return error_from(answer);
  }
  std::vector<LimitState> states;
  for (const Json& limit : *limits) {
    Result<LimitState> state = read_limit_state(limit);
    if (!state) return state.error();
    states.push_back(*std::move(state));
  }
  return states;
}

Result<bool> read_flag(const DaemonAnswer& answer, const char* member) {
  const Json json = Json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !json.is_object()) return error_from(answer);
  const auto found = json.find(member);
  if (found == json.end() || !found->is_boolean()) return unexpected(member);
  return found->get<bool>();
}

}  // namespace penstock::app
