// Calls of operators: overrides and the action log.
#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/override_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

using store::OperatorAction;
using store::OperatorStore;
using store::Override;

constexpr std::size_t kMaxRuleBytes = 1000;
constexpr std::size_t kMaxValueBytes = 200;
constexpr Duration kShortestOverride = std::chrono::seconds{1};
constexpr std::int64_t kUsualActions = 100;

std::int64_t since_1970_ms(Instant time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

struct OverrideAsked {
  Override set;
  Duration lasts{};
};

// Exactly one of limit, multiply and shadow.
void read_effect(JsonObjectReader& object, Override& set) {
  const std::optional<std::string_view> limit = object.text("limit");
  const std::optional<std::string_view> factor = object.text("multiply");
  const Json* const shadow = object.any("shadow");
  const int given = static_cast<int>(limit.has_value()) + static_cast<int>(factor.has_value()) +
                    static_cast<int>(shadow != nullptr);
  if (given != 1) {
    object.add_error("limit", "exactly one of limit, multiply and shadow is required");
    return;
  }
  if (shadow != nullptr) {
    if (!shadow->is_boolean() || !shadow->get<bool>()) {
      object.add_error("shadow", quote_json(*shadow) + " must be true");
    }
    return;
  }
  set.effect = limit ? Override::Effect::Limit : Override::Effect::Multiply;
  set.value = limit ? *limit : *factor;
  if (set.value.size() > kMaxValueBytes) {
    object.add_error(
        limit ? "limit" : "multiply",
        std::to_string(set.value.size()) + " bytes; at most " + std::to_string(kMaxValueBytes));
  }
}

std::string read_bounded(JsonObjectReader& object, std::string_view name, std::size_t most) {
  const std::string_view text = object.text(name).value_or("");
  if (text.size() > most) {
    object.add_error(name, std::to_string(text.size()) + " bytes; at most " + std::to_string(most));
  }
  return std::string(text);
}

Result<OverrideAsked> read_override(const Request& request) {
  const Result<void> query = Parameters(request.query).finish();
  if (!query) return query.error();
  const Result<Json> json = parse_json(request.body);
  if (!json) return json.error();
  JsonObjectReader object(*json, "");
  OverrideAsked asked;
  asked.set.rule = object.required_text("rule", kMaxRuleBytes);
  asked.set.subject = read_bounded(object, "subject", kMaxKeyBytes);
  read_effect(object, asked.set);
  const auto lasts = object.duration("for", kShortestOverride, OperatorStore::kMaxLifetime);
  if (!lasts) object.add_error("for", "missing; a time such as 1h");
  asked.lasts = lasts.value_or(Duration{});
  asked.set.reason = read_bounded(object, "reason", kMaxReasonBytes);
  const Result<void> read = object.finish();
  if (!read) return read.error();
  return asked;
}

// One override too many is a conflict, and no failure of the store.
Response problem_of_set(const Error& error) {
  if (error.code != ErrorCode::CapacityExhausted) return problem_of(error);
  return problem_response({.status = 409, .detail = error.detail});
}

}  // namespace

Json override_json(const Override& set) {
  Json json;
  json["rule"] = set.rule;
  json["subject"] = set.subject;
  switch (set.effect) {
    case Override::Effect::Limit: json["limit"] = set.value; break;
    case Override::Effect::Multiply: json["multiply"] = set.value; break;
    case Override::Effect::Shadow: json["shadow"] = true; break;
  }
  json["reason"] = set.reason;
  json["by"] = set.by;
  json["set_at_ms"] = since_1970_ms(set.set_at);
  json["expires_at_ms"] = since_1970_ms(set.expires_at);
  return json;
}

Json action_json(const OperatorAction& action) {
  Json json;
  json["at_ms"] = since_1970_ms(action.at);
  json["by"] = action.by;
  json["action"] = to_string(action.kind);
  json["rule"] = action.rule;
  json["domain"] = action.domain;
  json["subject"] = action.subject;
  json["detail"] = action.detail;
  json["reason"] = action.reason;
  if (action.expires_at) json["expires_at_ms"] = since_1970_ms(*action.expires_at);
  return json;
}

void set_override(Call call) {
  Result<OverrideAsked> asked = read_override(call.request);
  if (!asked) return call.respond(problem_of(asked.error()));
  asked->set.by = call.actor;
  call.backend.set_override(std::move(asked->set), asked->lasts, call.request.deadline,
                            [respond = std::move(call.respond)](const Result<Override>& made) {
                              if (!made) return respond(problem_of_set(made.error()));
                              respond(json_response(200, override_json(*made)));
                            });
}

void remove_override(Call call) {
  Parameters parameters(call.request.query);
  Override removed{.rule = std::string(parameters.text("rule").value_or("")),
                   .subject = std::string(parameters.text("subject").value_or("")),
                   .reason = std::string(parameters.text("reason").value_or("")),
                   .by = call.actor};
  if (removed.rule.empty()) parameters.add_error("rule: missing; as in rule=api/search");
  if (removed.reason.size() > kMaxReasonBytes) {
    parameters.add_error("reason: " + std::to_string(removed.reason.size()) + " bytes; at most " +
                         std::to_string(kMaxReasonBytes));
  }
  const Result<void> read = parameters.finish();
  if (!read) return call.respond(problem_of(read.error()));
  call.backend.remove_override(
      std::move(removed), call.request.deadline,
      [respond = std::move(call.respond)](const Result<std::optional<Override>>& before) {
        if (!before) return respond(problem_of(before.error()));
        Json json;
        json["removed"] = before->has_value();
        if (*before) json["override"] = override_json(**before);
        respond(json_response(200, json));
      });
}

void list_overrides(Call call) {
  Parameters parameters(call.request.query);
  const std::string rule(parameters.text("rule").value_or(""));
  const Result<void> read = parameters.finish();
  if (!read) return call.respond(problem_of(read.error()));
  call.backend.stores().operators.list_overrides(
      store::kUnknownVersion, call.request.deadline,
      [rule, respond = std::move(call.respond)](const Result<store::OverrideList>& list) {
        if (!list) return respond(problem_of(list.error()));
        Json json;
        Json& overrides = json["overrides"] = Json::array();
        for (const Override& each : list->overrides.value_or(std::vector<Override>{})) {
          if (rule.empty() || each.rule == rule || each.rule.starts_with(rule + "/")) {
            overrides.push_back(override_json(each));
          }
        }
        respond(json_response(200, json));
      });
}

void list_actions(Call call) {
  Parameters parameters(call.request.query);
  const std::int64_t count =
      parameters.parse_number("n", 1, static_cast<std::int64_t>(OperatorStore::kMaxActions))
          .value_or(kUsualActions);
  const Result<void> read = parameters.finish();
  if (!read) return call.respond(problem_of(read.error()));
  call.backend.stores().operators.list_actions(
      static_cast<std::size_t>(count), call.request.deadline,
      [respond = std::move(call.respond)](const Result<std::vector<OperatorAction>>& actions) {
        if (!actions) return respond(problem_of(actions.error()));
        Json json;
        Json& list = json["actions"] = Json::array();
        for (const OperatorAction& each : *actions) list.push_back(action_json(each));
        respond(json_response(200, json));
      });
}

}  // namespace penstock::http
