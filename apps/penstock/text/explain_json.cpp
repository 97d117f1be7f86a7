#include "apps/penstock/remote/daemon_calls.hpp"
#include "apps/penstock/text/decision_text.hpp"
#include "apps/penstock/text/explain_text.hpp"
#include "apps/penstock/text/time_text.hpp"
#include "core/quota_math.hpp"

#include <nlohmann/json.hpp>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;
using Settled = ExplainReport::Settled;

// The same names as on the admin port.
void write_terms(Json& limit, const core::SharingTerms& terms) {
  limit["mode"] = to_string(terms.mode);
  if (terms.mode == core::Mode::Exact) return;
  if (terms.mode == core::Mode::Local) {
    limit["share"] = terms.divided ? "nodes" : "none";
  } else {
    limit["lease_lifetime_ms"] =
        std::chrono::ceil<std::chrono::milliseconds>(terms.lifetime).count();
  }
}

Json limit_json(const rules::MatchedLimit& matched, const ExplainReport::Limit& limit) {
  Json json{{"rule", matched.rule == nullptr ? "" : matched.rule->name},
            {"quota", to_string(matched.check.quota)},
            {"subject", matched.check.name.subject},
            {"name", matched.check.name.limit},
            {"cost", matched.check.cost.units},
            {"max_in_period", core::max_in_any_period(matched.check.quota)},
            {"shadow", limit.shadow}};
  write_terms(json, matched.check.terms);
  if (limit.now) {
    json["remaining"] = limit.now->remaining();
    json["would_deny"] = limit.denies;
  }
  return json;
}

// "search" of "api/search".
std::string without_domain(const std::string& rule, const std::string& domain) {
  return rule.starts_with(domain + "/") ? rule.substr(domain.size() + 1) : rule;
}

// Reasons of a decision by on_failure.
bool is_without_store(const std::string& reason) {
  return reason == "failed_open" || reason == "failed_closed" || reason == "decided_locally";
}

Settled settled_by_reason(const std::string& reason, bool domain_known) {
  if (!domain_known) return Settled::UnknownDomain;
  if (reason == "deny_listed") return Settled::DenyList;
  if (reason == "allow_listed") return Settled::AllowList;
  return reason == "missing_attribute" ? Settled::MissingAttribute : Settled::ByLimits;
}

ExplainReport::Rule rule_in(const Json& json, const std::string& domain) {
  return {.name = without_domain(json.at("rule").get<std::string>(), domain),
          .matched = json.at("matched").get<bool>(),
          .reason = json.at("reason").get<std::string>(),
          .source = {.file = json.at("source").at("file").get<std::string>(),
                     .line = json.at("source").at("line").get<std::size_t>()}};
}

// The rule that settles the request: list entries are first, and a rule whose key lacks an
// attribute gives that as its reason.
std::string settling_rule(const ExplainReport& report) {
  const bool is_list = report.settled != Settled::MissingAttribute;
  for (const ExplainReport::Rule& rule : report.rules) {
    if (rule.matched && (is_list || rule.reason.starts_with("denies"))) return rule.name;
  }
  return {};
}

// "limit 500/m until 2026-11-17 14:03:12 UTC".
std::string live_override_in(const Json& json) {
  std::string text = "shadow";
  if (json.contains("limit")) text = "limit " + json.at("limit").get<std::string>();
  if (json.contains("multiply")) text = "multiply " + json.at("multiply").get<std::string>();
  const Instant expires{std::chrono::milliseconds{json.at("expires_at_ms").get<std::int64_t>()}};
  return text + " until " + utc_text(expires) + " UTC";
}

Result<void> read_limits(const Json& limits, ExplainReport& report) {
  for (const Json& json : limits) {
    // a limit that could not be checked has no outcome
    const Result<LimitState> state = read_limit_state(json);
    if (!state && json.contains("outcome")) return state.error();
    const Result<Quota> quota = parse_shown_quota(json.at("quota").get<std::string>());
    if (!quota) return quota.error();
    ExplainReport::Limit limit{.rule = json.value("rule", ""),
                               .quota = *quota,
                               .subject = json.value("subject", ""),
                               .shadow = json.value("shadow", false)};
    if (json.contains("override")) limit.live_override = live_override_in(json["override"]);
    if (json.contains("name")) limit.rule += "/" + json["name"].get<std::string>();
    if (state) {
      limit.now = state->decision;
      limit.denies = !state->decision.allowed() && !limit.shadow;
    }
    report.limits.push_back(std::move(limit));
  }
  return {};
}

}  // namespace

std::string as_json(const Explained& explained) {
  const rules::Match& match = explained.explanation->match;
  const ExplainReport report = report_of(explained);
  Json rules = Json::array();
  for (const ExplainReport::Rule& each : report.rules) {
    rules.push_back({{"rule", each.name},
                     {"matched", each.matched},
                     {"reason", each.reason},
                     {"source", {{"file", each.source.file}, {"line", each.source.line}}}});
  }
  Json limits = Json::array();
  for (std::size_t i = 0; i < match.limits.size(); ++i) {
    limits.push_back(limit_json(match.limits[i], report.limits[i]));
  }
  Json json{{"domain", explained.request->domain},
            {"domain_known", match.domain_known},
            {"rules", std::move(rules)},
            {"limits", std::move(limits)}};
  if (match.list_entry != nullptr) json["listed_by"] = match.list_entry->name;
  if (match.missing_key_rule != nullptr) json["missing_by"] = match.missing_key_rule->name;
  if (report.allowed) json["allowed"] = *report.allowed;
  return json_text(json, 2);
}

Result<ExplainReport> read_explained(const DaemonAnswer& answer) {
  const Json json = Json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !json.contains(Json::json_pointer("/decision/allowed"))) {
    return error_from(answer);
  }
  ExplainReport report;
  try {
    report.domain = json.at("domain").get<std::string>();
    report.truncated = json.at("truncated").get<bool>();
    for (const Json& rule : json.at("rules")) report.rules.push_back(rule_in(rule, report.domain));
    const Json& decision = json.at("decision");
    report.allowed = decision.at("allowed").get<bool>();
    const auto reason = decision.at("reason").get<std::string>();
    report.settled = settled_by_reason(reason, json.at("domain_known").get<bool>());
    if (is_without_store(reason)) report.without_store = reason;
    if (report.settled != Settled::ByLimits) report.settled_by = settling_rule(report);
    const Result<void> limits = read_limits(decision.at("limits"), report);
    if (!limits) return limits.error();
  } catch (const Json::exception& error) {
    return Error{ErrorCode::Protocol,
                 "malformed response of the daemon: " + std::string(error.what())};
  }
  return report;
}

}  // namespace penstock::app
