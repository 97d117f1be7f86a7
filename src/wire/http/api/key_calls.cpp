// Calls about one key: a plain one, as the library counts it, or with `rule` or `domain` a subject
// of the rules, written as "api_key=abc".
#include "answer/check_response.hpp"
#include "core/decide_all.hpp"
#include "core/duration_text.hpp"
#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/check_body.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::http {
namespace {

using service::Answer;
using ActionKind = store::OperatorAction::Kind;

constexpr std::size_t kKeySegment = 2;  // of /v1/keys/{key}
constexpr Duration kLongestBlock = Days{36'500};
// Where only the name of a count matters.
constexpr Quota kAnyQuota = per_second(1);

// Which counts of a key are meant. At most one of them is given.
struct Scope {
  std::optional<std::string> rule{};  // "api/search"
  std::optional<std::string> domain{};
  std::optional<Quota> quota{};
  std::string reason{};  // of the operator
};

// The limits that are meant, without decisions.
Result<Answer> limits_of(const service::Backend& backend, const std::string& key,
                         const Scope& scope) {
  const std::array given{scope.rule.has_value(), scope.domain.has_value(), scope.quota.has_value()};
  if (std::count(given.begin(), given.end(), true) > 1) {
    return invalid_input("rule, domain, limit: only one of them");
  }
  if (scope.domain) return backend.limits_of_domain(*scope.domain, key);
  if (!scope.rule) {
    Answer answer;
    answer.match.domain_known = true;
    answer.limits.push_back({.matched = {.check = {.name = {.subject = key, .limit = {}},
                                                   .quota = scope.quota.value_or(kAnyQuota)}}});
    return answer;
  }
  const std::size_t slash = scope.rule->find('/');
  if (slash == std::string::npos) {
    return invalid_input("rule: " + quote(*scope.rule) +
                         " must be a domain and a rule, as in api/search");
  }
  return backend.limits_of_rule(scope.rule->substr(0, slash), scope.rule->substr(slash + 1), key);
}

std::vector<core::LimitKey> names_of(const Answer& answer) {
  std::vector<core::LimitKey> names;
  for (const service::LimitAnswer& limit : answer.limits) names.push_back(limit.matched.check.name);
  return names;
}

std::vector<core::NamedCheck> checks_of(const Answer& answer, Cost cost) {
  std::vector<core::NamedCheck> checks;
  for (const service::LimitAnswer& limit : answer.limits) {
    checks.push_back(limit.matched.check);
    checks.back().cost = cost;
  }
  return checks;
}

// REQUIRES: one decision per limit.
Answer decided(Answer answer, const store::Decisions& decisions) {
  for (std::size_t i = 0; i < decisions.size(); ++i) answer.limits[i].decision = decisions[i];
  const Decision strictest = core::strictest(decisions);
  answer.allowed = strictest.allowed();
  answer.reason = answer.allowed ? service::Reason::WithinLimits : service::Reason::OverLimit;
  answer.strictest = strictest.decided_by();
  return answer;
}

Json key_json(const std::string& key) {
  Json json;
  json["key"] = key;
  return json;
}

// The response to a read or a refund of the usage of a key; always 200.
store::Answered<store::Decisions> tell_state(std::string key, Answer limits,
                                             Handler::Respond respond) {
  return [key = std::move(key), limits = std::move(limits),
          respond = std::move(respond)](const Result<store::Decisions>& decisions) {
    if (!decisions) return respond(problem_of(decisions.error()));
    std::string text;
    JsonWriter writer(text);
    writer.begin_object().name("key").text(key);
    answer::write_decision(writer, decided(limits, *decisions));
    writer.end_object();
    respond(json_response(200, std::move(text)));
  };
}

// The response with a Boolean of the store as this member.
store::Answered<bool> tell_bool(Json json, std::string member, Handler::Respond respond) {
  return [json = std::move(json), member = std::move(member),
          respond = std::move(respond)](const Result<bool>& answer) {
    if (!answer) return respond(problem_of(answer.error()));
    Json told = json;
    told[member] = *answer;
    respond(json_response(200, told));
  };
}

// Logs an action that was done, then passes the answer on.
store::Answered<bool> logged(const Call& call, store::OperatorAction action, Duration lasts,
                             store::Answered<bool> then) {
  return [&operators = call.backend.stores().operators, deadline = call.request.deadline,
          action = std::move(action), lasts, then = std::move(then)](const Result<bool>& done) {
    if (!done) return then(done);
    operators.append_action(
        action, lasts, deadline, [was = *done, then](const Result<bool>& written) {
          if (written) return then(was);
          then(Error{written.error().code,
                     "done, but not written to the action log: " + written.error().detail});
        });
  };
}

std::optional<std::string> owned(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  return std::string(*text);
}

// The log entry of a call about this key.
store::OperatorAction action_for(const Call& call, store::OperatorAction::Kind kind,
                                 const std::string& key, const Scope& scope) {
  return {.kind = kind,
          .by = call.actor,
          .rule = scope.rule.value_or(""),
          .domain = scope.domain.value_or(""),
          .subject = key,
          .reason = scope.reason};
}

struct KeyAsked {
  std::string key;
  Answer limits;
};

enum class NeedsQuota { No, Yes };

Result<KeyAsked> resolve(const Call& call, const Scope& scope, NeedsQuota needs) {
  Result<std::string> key = name_in_path(call.segments[kKeySegment], "key");
  if (!key) return key.error();
  if (needs == NeedsQuota::Yes && !scope.rule && !scope.domain && !scope.quota) {
    return invalid_input("limit: missing; give limit=100/m, or rule=domain/rule");
  }
  Result<Answer> limits = limits_of(call.backend, *key, scope);
  if (!limits) return limits.error();
  if (needs == NeedsQuota::Yes) {
    std::erase_if(limits->limits, [](const service::LimitAnswer& limit) {
      return limit.matched.check.quota.is_none();
    });
    if (limits->limits.empty()) {
      return invalid_input("key: an override sets the limit to 0, so there is no count");
    }
  }
  return KeyAsked{.key = std::move(*key), .limits = std::move(*limits)};
}

std::string reason_too_long(std::string_view reason) {
  return "reason: " + std::to_string(reason.size()) + " bytes; at most " +
         std::to_string(kMaxReasonBytes);
}

// "?rule=", "?domain=", where a quota is accepted "?limit=&burst=&algorithm=", else "?reason=".
Result<Scope> scope_in_query(const Request& request, NeedsQuota needs) {
  Parameters parameters(request.query);
  Scope scope{.rule = owned(parameters.text("rule")), .domain = owned(parameters.text("domain"))};
  if (needs == NeedsQuota::Yes) {
    const std::optional<std::string_view> limit = parameters.text("limit");
    const auto burst = parameters.parse_number("burst", 1, Quota::kMaxLimit);
    const std::optional<std::string_view> algorithm = parameters.text("algorithm");
    if (limit) {
      const Result<Quota> quota =
          read_quota({.limit = *limit, .burst = burst, .algorithm = algorithm});
      if (!quota) return quota.error();
      scope.quota = *quota;
    }
  } else {
    scope.reason = parameters.text("reason").value_or("");
    if (scope.reason.size() > kMaxReasonBytes) parameters.add_error(reason_too_long(scope.reason));
  }
  const Result<void> read = parameters.finish();
  if (!read) return read.error();
  return scope;
}

Result<Json> body_or_nothing(const Request& request) {
  if (request.body.empty()) return Json::object();
  return parse_json(request.body);
}

Result<void> no_parameters(const Request& request) { return Parameters(request.query).finish(); }

struct RefundAsked {
  Scope scope;
  Cost cost;
};

Result<RefundAsked> read_refund(const Request& request) {
  const Result<void> query = no_parameters(request);
  if (!query) return query.error();
  const Result<Json> json = parse_json(request.body);
  if (!json) return json.error();
  JsonObjectReader object(*json, "");
  RefundAsked asked{.scope = {}, .cost = object.cost().value_or(Cost{})};
  asked.scope.rule = owned(object.text("rule"));
  asked.scope.quota = object.quota();
  const Result<void> read = object.finish();
  if (!read) return read.error();
  return asked;
}

struct BlockAsked {
  Scope scope;
  Duration duration{};
};

enum class BlockKind { Block, Unblock };

Result<BlockAsked> read_block(const Request& request, BlockKind kind) {
  const Result<void> query = no_parameters(request);
  if (!query) return query.error();
  const Result<Json> json = body_or_nothing(request);
  if (!json) return json.error();
  JsonObjectReader object(*json, "");
  BlockAsked asked;
  if (kind == BlockKind::Block) {
    const auto duration = object.duration("for", std::chrono::milliseconds{1}, kLongestBlock);
    if (!duration) object.add_error("for", "missing; a time such as 10m");
    asked.duration = duration.value_or(Duration{});
  }
  asked.scope.rule = owned(object.text("rule"));
  asked.scope.domain = owned(object.text("domain"));
  asked.scope.reason = object.text("reason").value_or("");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  if (asked.scope.reason.size() > kMaxReasonBytes) {
    return invalid_input(reason_too_long(asked.scope.reason));
  }
  return asked;
}

}  // namespace

Result<std::string> name_in_path(std::string_view segment, std::string_view what) {
  std::optional<std::string> name = percent_decoded(segment);
  if (!name) {
    return invalid_input(std::string(what) + ": " + quote(segment) + " is not percent-encoded");
  }
  if (name->empty()) return invalid_input(std::string(what) + ": must not be empty");
  if (name->size() > kMaxKeyBytes) {
    return invalid_input(std::string(what) + ": " + std::to_string(name->size()) +
                         " bytes; at most " + std::to_string(kMaxKeyBytes));
  }
  return std::move(*name);
}

void peek_key(Call call) {
  const Result<Scope> scope = scope_in_query(call.request, NeedsQuota::Yes);
  if (!scope) return call.respond(problem_of(scope.error()));
  Result<KeyAsked> asked = resolve(call, *scope, NeedsQuota::Yes);
  if (!asked) return call.respond(problem_of(asked.error()));
  std::vector<core::NamedCheck> checks = checks_of(asked->limits, Cost{0});
  call.backend.stores().limits.check(
      std::move(checks), call.request.deadline,
      tell_state(std::move(asked->key), std::move(asked->limits), std::move(call.respond)));
}

void reset_key(Call call) {
  const Result<Scope> scope = scope_in_query(call.request, NeedsQuota::No);
  if (!scope) return call.respond(problem_of(scope.error()));
  const Result<KeyAsked> asked = resolve(call, *scope, NeedsQuota::No);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.stores().limits.reset(
      names_of(asked->limits), call.request.deadline,
      logged(call, action_for(call, ActionKind::Reset, asked->key, *scope), Duration{0},
             tell_bool(key_json(asked->key), "was_used", std::move(call.respond))));
}

void refund_key(Call call) {
  const Result<RefundAsked> refund = read_refund(call.request);
  if (!refund) return call.respond(problem_of(refund.error()));
  Result<KeyAsked> asked = resolve(call, refund->scope, NeedsQuota::Yes);
  if (!asked) return call.respond(problem_of(asked.error()));
  std::vector<core::NamedCheck> checks = checks_of(asked->limits, refund->cost);
  call.backend.stores().limits.refund(
      std::move(checks), call.request.deadline,
      tell_state(std::move(asked->key), std::move(asked->limits), std::move(call.respond)));
}

void block_key(Call call) {
  const Result<BlockAsked> block = read_block(call.request, BlockKind::Block);
  if (!block) return call.respond(problem_of(block.error()));
  const Result<KeyAsked> asked = resolve(call, block->scope, NeedsQuota::No);
  if (!asked) return call.respond(problem_of(asked.error()));
  Json json = key_json(asked->key);
  json["blocked_for_ms"] = block->duration / std::chrono::milliseconds{1};
  store::OperatorAction action = action_for(call, ActionKind::Block, asked->key, block->scope);
  action.detail = "for " + core::duration_text(block->duration);
  call.backend.stores().limits.block(
      names_of(asked->limits), block->duration, call.request.deadline,
      logged(call, std::move(action), block->duration,
             tell_bool(std::move(json), "was_blocked", std::move(call.respond))));
}

void unblock_key(Call call) {
  const Result<BlockAsked> block = read_block(call.request, BlockKind::Unblock);
  if (!block) return call.respond(problem_of(block.error()));
  const Result<KeyAsked> asked = resolve(call, block->scope, NeedsQuota::No);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.stores().limits.block(
      names_of(asked->limits), Duration{0}, call.request.deadline,
      logged(call, action_for(call, ActionKind::Unblock, asked->key, block->scope), Duration{0},
             tell_bool(key_json(asked->key), "was_blocked", std::move(call.respond))));
}

void take(Call call) {
  const Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(problem_of(json.error()));
  Result<TakeRequest> asked = read_take(*json, call.settings.on_failure);
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.take(
      std::move(asked->check), asked->on_failure, call.request.deadline,
      [&settings = call.settings, respond = std::move(call.respond)](const Answer& answer) {
        respond(answer::response_of(answer, settings.headers));
      });
}

}  // namespace penstock::http
