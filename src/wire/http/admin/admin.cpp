#include "wire/http/admin/admin.hpp"

#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "service/overrides.hpp"
#include "wire/http/api/override_json.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::http {
namespace {

constexpr std::int64_t kMostTop = 1000;
constexpr std::int64_t kUsualTop = 20;

Response text_response(std::string type, std::string body) {
  return {.status = 200, .fields = {{"Content-Type", std::move(type)}}, .body = std::move(body)};
}

Json reason(std::string_view what, std::string_view detail) {
  Json json;
  json["kind"] = what;
  json["detail"] = detail;
  return json;
}

Response metrics(AdminDataSource& source, Parameters& /*parameters*/) {
  return text_response("text/plain; version=0.0.4; charset=utf-8", source.metrics());
}

Response healthz(AdminDataSource& /*source*/, Parameters& /*parameters*/) {
  return text_response("text/plain; charset=utf-8", "ok\n");
}

Response readyz(AdminDataSource& source, Parameters& /*parameters*/) {
  const Readiness state = source.readiness();
  Json reasons = Json::array();
  if (state.stopping) reasons.push_back(reason("stopping", "the program is about to end"));
  const bool ready = reasons.empty();
  if (!state.store_error.empty()) reasons.push_back(reason("store", state.store_error));
  if (!state.reload_error.empty()) reasons.push_back(reason("reload", state.reload_error));
  for (const std::string& rollout : state.rollouts) reasons.push_back(reason("rollout", rollout));
  Json json;
  json["ready"] = ready;
  json["reasons"] = std::move(reasons);
  return json_response(ready ? 200 : 503, json);
}

// 12.5 for 1250; whole numbers without a point.
Json percent(rules::BasisPoints share) {
  if (share % 100 == 0) return share / 100;
  return static_cast<double>(share) / 100;
}

std::string_view action_word(rules::Action action) {
  switch (action) {
    case rules::Action::Limit: return "limit";
    case rules::Action::Unlimited: return "unlimited";
    case rules::Action::Allow: return "allow";
    case rules::Action::Deny: return "deny";
  }
  return "unknown";
}

std::string_view failure_word(rules::OnFailure policy) {
  switch (policy) {
    case rules::OnFailure::Open: return "open";
    case rules::OnFailure::Closed: return "closed";
    case rules::OnFailure::Local: return "local";
  }
  return "unknown";
}

// As in the configuration: only members that matter in its mode.
void write_terms(Json& json, const core::SharingTerms& terms) {
  json["mode"] = to_string(terms.mode);
  switch (terms.mode) {
    case core::Mode::Exact: return;
    case core::Mode::Local: json["share"] = terms.divided ? "nodes" : "none"; return;
    case core::Mode::Lease:
    case core::Mode::LeaseStrict:
    case core::Mode::Adaptive: break;
  }
  json["lease_lifetime_ms"] = std::chrono::ceil<std::chrono::milliseconds>(terms.lifetime).count();
}

// Members only where the rule has them.
void write_rollout(Json& json, const rules::Rule& rule) {
  if (rule.rollout) json["enforce_percent"] = percent(rule.rollout->enforce);
  if (rule.rollout && rule.rollout->abort) {
    Json& abort = json["abort"];
    abort["denied_above_percent"] = percent(rule.rollout->abort->denied_above);
    abort["over_ms"] = rule.rollout->abort->over / std::chrono::milliseconds{1};
    abort["min_requests"] = rule.rollout->abort->min_requests;
  }
  if (rule.near_limit != 0) json["near_limit_percent"] = percent(rule.near_limit);
}

Json rule_json(const rules::Rule& rule) {
  Json json;
  json["domain"] = rule.domain;
  json["name"] = rule.name;
  if (!rule.description.empty()) json["description"] = rule.description;
  json["action"] = action_word(rule.action);
  Json& limits = json["limits"] = Json::array();
  for (const rules::RuleLimit& limit : rule.limits) {
    Json entry;
    if (!limit.name.empty()) entry["name"] = limit.name;
    entry["quota"] = to_string(limit.quota);
    entry["algorithm"] = to_string(limit.quota.algorithm());
    limits.push_back(std::move(entry));
  }
  if (rule.action == rules::Action::Limit) write_terms(json, rule.terms);
  json["on_failure"] = failure_word(rule.on_failure);
  json["shadow"] = rule.shadow;
  write_rollout(json, rule);
  json["metric"] = rule.metric;
  json["source"]["file"] = rule.source.file;
  json["source"]["line"] = rule.source.line;
  return json;
}

Response rules_loaded(AdminDataSource& source, Parameters& parameters) {
  const std::optional<std::string_view> domain = parameters.text("domain");
  const Result<void> read = parameters.finish();
  if (!read) return problem_of(read.error());
  const LoadedRules loaded = source.rules();
  Json json;
  json["files"] = loaded.files;
  json["loaded_at_ms"] =
      std::chrono::floor<std::chrono::milliseconds>(loaded.loaded_at).time_since_epoch().count();
  Json& rules = json["rules"] = Json::array();
  for (const rules::Rule* rule : loaded.rules) {
    if (domain && rule->domain != *domain) continue;
    rules.push_back(rule_json(*rule));
    for (const auto& each : loaded.overrides) {
      if (service::is_of_rule(*each, *rule))
        rules.back()["overrides"].push_back(override_json(*each));
    }
  }
  return json_response(200, json);
}

Response top(AdminDataSource& source, Parameters& parameters) {
  const std::string_view by = parameters.text("by").value_or("requests");
  const std::int64_t count = parameters.parse_number("n", 1, kMostTop).value_or(kUsualTop);
  if (by != "requests" && by != "denied") {
    parameters.add_error("by: " + quote(by) + " must be requests or denied");
  }
  const Result<void> read = parameters.finish();
  if (!read) return problem_of(read.error());
  const TopBy order = by == "requests" ? TopBy::Asked : TopBy::Denied;
  Json json;
  json["by"] = by;
  Json& entries = json["entries"] = Json::array();
  for (const TopEntry& entry : source.top(order, static_cast<std::size_t>(count))) {
    Json told;
    told["rule"] = entry.rule;
    told["subject"] = entry.subject;
    told["requests"] = entry.asked;
    told["denied"] = entry.denied;
    entries.push_back(std::move(told));
  }
  return json_response(200, json);
}

struct Page {
  std::string_view path;
  Response (*function)(AdminDataSource&, Parameters&);
};
constexpr std::array kPages{Page{"/metrics", metrics}, Page{"/healthz", healthz},
                            Page{"/readyz", readyz}, Page{"/rules", rules_loaded},
                            Page{"/top", top}};

Response answer(AdminDataSource& source, const Request& request) {
  for (const Page& page : kPages) {
    if (page.path != request.path) continue;
    if (request.method != "GET" && request.method != "HEAD") {
      const std::string detail = std::string(page.path) + " has no " + quote(request.method);
      Response response = problem_response({.status = 405, .detail = detail});
      response.fields.emplace_back("Allow", "GET, HEAD");
      return response;
    }
    Parameters parameters(request.query);
    return page.function(source, parameters);
  }
  const std::string detail = "no page at " + quote(request.path) +
                             "; there are /metrics, /healthz, /readyz, /rules and /top";
  return problem_response({.status = 404, .detail = detail});
}

}  // namespace

void Admin::handle(const Request& request, Respond respond) { respond(answer(source_, request)); }

}  // namespace penstock::http
