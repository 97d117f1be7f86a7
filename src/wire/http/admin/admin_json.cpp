#include "wire/http/admin/admin_json.hpp"

#include "http/json_writer.hpp"
#include "service/overrides.hpp"
#include "wire/http/api/override_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace penstock::http {
namespace {

// Rates and shares with four digits.
double rounded(double value) { return std::round(value * 10'000) / 10'000; }

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

// 12.5 for 1250; whole numbers without a point.
Json percent(rules::BasisPoints share) {
  if (share % 100 == 0) return share / 100;
  return static_cast<double>(share) / 100;
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

void write_overrides(Json& json, const rules::Rule& rule,
                     const service::LiveOverrides::List& overrides) {
  for (const auto& each : overrides) {
    if (service::is_of_rule(*each, rule)) json["overrides"].push_back(override_json(*each));
  }
}

void write_stats(Json& json, const RuleStats& stats) {
  json["admitted_per_s"] = rounded(stats.recent.admitted_per_s);
  json["denied_per_s"] = rounded(stats.recent.denied_per_s);
  json["shadow_denied_per_s"] = rounded(stats.recent.shadow_denied_per_s);
  json["denied_recent"] = stats.recent.denied;
  json["subjects_denied"] = stats.subjects_denied.estimate();
}

Json node_json(const NodeState& node, const StateReport& report, bool is_this) {
  Json json;
  json["node"] = node.node;
  json["version"] = node.version;
  json["config_hash"] = node.config_hash;
  json["loaded_at_ms"] = milliseconds_of(node.loaded_at);
  json["started_at_ms"] = milliseconds_of(node.started_at);
  json["reload_error"] = node.reload_error;
  json["state"] = to_string(node.enforcement.state);
  json["reasons"] = node.enforcement.reasons;
  json["admitted_per_s"] = node.admitted_per_s;
  json["denied_per_s"] = node.denied_per_s;
  json["seen_ms_ago"] =
      std::max<std::int64_t>(0, milliseconds_of(report.now) - milliseconds_of(node.seen_at));
  json["is_this"] = is_this;
  return json;
}

Json store_json(const StoreState& store) {
  Json json;
  json["kind"] = store.is_memory ? "memory" : "redis";
  json["serving"] = store.serving;
  json["error"] = store.error;
  json["latency_p50_us"] = store.latency_p50_us;
  json["latency_p99_us"] = store.latency_p99_us;
  json["breaker"] = store.breaker;
  json["round_trips"] = store.round_trips;
  json["timeouts"] = store.timeouts;
  return json;
}

Json rollout_json(const RolloutState& rollout) {
  Json json;
  json["rule"] = rollout.rule;
  json["enforce_percent"] = percent(rollout.enforce);
  json["aborted"] = rollout.aborted;
  if (rollout.aborted) json["aborted_at_ms"] = milliseconds_of(rollout.aborted_at);
  json["denied_percent"] = percent(rollout.denied);
  return json;
}

void write_counts(JsonWriter& writer, std::string_view name, const telemetry::CountSeries& series,
                  std::uint64_t telemetry::RequestCounts::*member) {
  writer.name(name).begin_array();
  for (const telemetry::RequestCounts& step : series.steps) writer.number(step.*member);
  writer.end_array();
}

}  // namespace

std::int64_t milliseconds_of(Instant at) {
  return std::chrono::floor<std::chrono::milliseconds>(at).time_since_epoch().count();
}

Json rule_json(const rules::Rule& rule, const LoadedRules& loaded) {
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
  write_overrides(json, rule, loaded.overrides);
  json["metric"] = rule.metric;
  json["source"]["file"] = rule.source.file;
  json["source"]["line"] = rule.source.line;
  const auto stats = loaded.stats.find(rule.metric.empty() ? rule.name : rule.metric);
  write_stats(json, stats == loaded.stats.end() ? RuleStats{} : stats->second);
  json["fleet"] = loaded.is_fleet;
  return json;
}

Json state_json(const StateReport& report) {
  Json json;
  json["state"] = to_string(report.enforcement.state);
  json["reasons"] = report.enforcement.reasons;
  json["now_ms"] = milliseconds_of(report.now);
  json["node"] = report.nodes.front().node;
  json["version"] = report.nodes.front().version;
  json["store"] = store_json(report.store);
  Json& nodes = json["nodes"] = Json::array();
  for (const NodeState& node : report.nodes) {
    nodes.push_back(node_json(node, report, nodes.empty()));
  }
  Json& rollouts = json["rollouts"] = Json::array();
  for (const RolloutState& rollout : report.rollouts) rollouts.push_back(rollout_json(rollout));
  return json;
}

Json top_json(const TopReport& report) {
  Json entries = Json::array();
  for (const TopEntry& entry : report.entries) {
    Json told;
    told["rule"] = entry.rule;
    told["subject"] = entry.subject;
    told["requests"] = entry.asked;
    told["denied"] = entry.denied;
    const double all = static_cast<double>(std::max<std::uint64_t>(1, report.all_denied));
    told["share"] = rounded(std::min(1.0, static_cast<double>(entry.denied) / all));
    if (entry.first_denied) told["first_denied_ms"] = milliseconds_of(*entry.first_denied);
    entries.push_back(std::move(told));
  }
  return entries;
}

Json promises_json(const Promises& promises) {
  Json json;
  Json& modes = json["modes"] = Json::array();
  for (const ModePromise& mode : promises.modes) {
    Json told;
    told["mode"] = mode.mode;
    told["rules"] = mode.rules;
    told["bound"] = mode.bound;
    told["observed_excess"] = mode.observed_excess;
    modes.push_back(std::move(told));
  }
  json["leases"]["out"] = promises.leased_keys;
  json["leases"]["units"] = promises.units_leased;
  json["reconciliation"]["pending"] = promises.outage_pending;
  json["reconciliation"]["reported"] = promises.outage_reported;
  json["reconciliation"]["lost"] = promises.outage_lost;
  json["orphan_keys"] = promises.orphan_keys;
  json["evictions"] = promises.evictions;
  return json;
}

Json denials_json(const std::vector<telemetry::DeniedSubject>& denials) {
  Json list = Json::array();
  for (const telemetry::DeniedSubject& denial : denials) {
    Json told;
    told["rule"] = denial.key.substr(0, denial.key.find(' '));
    told["first_ms"] = milliseconds_of(denial.first);
    told["last_ms"] = milliseconds_of(denial.last);
    told["count"] = denial.count;
    list.push_back(std::move(told));
  }
  return list;
}

std::string history_json(const HistoryReport& report, Instant since) {
  using telemetry::RequestCounts;
  const telemetry::CountSeries series = telemetry::steps_after(report.series, since);
  std::string text;
  JsonWriter writer(text);
  const auto step = std::chrono::milliseconds(series.step).count();
  writer.begin_object().name("step_ms").number(step);
  writer.name("from_ms").number(milliseconds_of(series.from));
  writer.name("now_ms").number(milliseconds_of(report.now));
  write_counts(writer, "admitted", series, &RequestCounts::admitted);
  write_counts(writer, "denied", series, &RequestCounts::denied);
  write_counts(writer, "shadow_denied", series, &RequestCounts::shadow_denied);
  write_counts(writer, "without_store", series, &RequestCounts::without_store);
  writer.name("marks").begin_array();
  for (const telemetry::Mark& mark : report.marks) {
    if (mark.at < report.series.from || mark.at <= since) continue;
    writer.begin_object().name("at_ms").number(milliseconds_of(mark.at));
    writer.name("kind").text(to_string(mark.kind)).name("text").text(mark.text);
    writer.name("node").text(mark.node).end_object();
  }
  writer.end_array().end_object();
  return text;
}

}  // namespace penstock::http
