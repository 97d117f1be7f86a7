#include "daemon/admin_data.hpp"
#include "penstock/version.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

// The reports of AdminData.
namespace penstock::daemon {
namespace {

namespace metrics = telemetry::metrics;
using http::DataScope;
using http::TopBy;
using http::TopEntry;
using telemetry::HotKeyKind;

std::string name_of(const rules::Rule& rule) { return rule.domain + "/" + rule.name; }

TopEntry entry_of(std::string_view key) {
  const std::size_t space = std::min(key.find(' '), key.size());
  TopEntry entry{.rule = std::string(key.substr(0, space)), .subject = {}};
  if (space < key.size()) entry.subject = key.substr(space + 1);
  return entry;
}

// "api/search" has the limits "api/search" and "api/search/minute".
bool is_limit_of(std::string_view limit, std::string_view rule) {
  return limit.starts_with(rule) && (limit.size() == rule.size() || limit[rule.size()] == '/');
}

std::string_view breaker_word(store::BreakerState state) {
  switch (state) {
    case store::BreakerState::Closed: return "closed";
    case store::BreakerState::HalfOpen: return "half_open";
    case store::BreakerState::Open: break;
  }
  return "open";
}

std::string_view bound_of(core::Mode mode) {
  switch (mode) {
    case core::Mode::Exact:
    case core::Mode::LeaseStrict: return "never more than the limit";
    case core::Mode::Lease:
    case core::Mode::Adaptive: return "more than the limit only by leases that ended unspent";
    case core::Mode::Local: break;
  }
  return "the limit on each node; with share: nodes, divided among them";
}

}  // namespace

std::string AdminData::metrics() { return deps_.metrics.prometheus_text(); }

http::Readiness AdminData::readiness() {
  http::Readiness readiness{
      .stopping = stopping_, .store_error = store_error(), .reload_error = reload_error_};
  for (const service::RolloutReport& rollout : deps_.engines.rollouts.report()) {
    if (rollout.aborted) readiness.rollouts.push_back(abort_text(rollout));
  }
  return readiness;
}

http::RuleStatsByMetric AdminData::own_rule_stats() const {
  http::RuleStatsByMetric stats;
  for (telemetry::RuleRecent& recent : rules_.recent()) {
    stats[recent.rule].recent = std::move(recent);
  }
  std::unordered_map<std::string, telemetry::DistinctSketch> by_limit;
  for (const telemetry::DeniedSnapshot& worker : deps_.engines.hot_keys.denied()) {
    for (const telemetry::DeniedOfRule& rule : worker.rules) {
      by_limit[rule.rule].merge(rule.subjects);
    }
  }
  for (const auto& rule : deps_.configuration.rules->rules()) {
    for (const auto& [limit, sketch] : by_limit) {
      if (!is_limit_of(limit, name_of(*rule))) continue;
      const std::string& metric = rule->metric.empty() ? rule->name : rule->metric;
      stats[metric].recent.rule = metric;
      stats[metric].subjects_denied.merge(sketch);
    }
  }
  return stats;
}

http::LoadedRules AdminData::rules(DataScope scope) {
  on_asked();
  http::LoadedRules loaded{.loaded_at = loaded_at_,
                           .owner = deps_.configuration.rules,
                           .stats = own_rule_stats(),
                           .is_fleet = uses_fleet(scope)};
  for (const std::filesystem::path& file : deps_.configuration.files) loaded.files.push_back(file);
  for (const auto& rule : deps_.configuration.rules->rules()) loaded.rules.push_back(rule.get());
  const Instant now = system_clock().now();
  for (const auto& each : *deps_.engines.overrides.list()) {
    if (each->expires_at > now) loaded.overrides.push_back(each);
  }
  if (loaded.is_fleet) fleet_.add_to(loaded.stats);
  return loaded;
}

http::TopReport AdminData::own_top(TopBy by) const {
  const bool denied = by == TopBy::Denied;
  constexpr std::size_t kMost = telemetry::HotKeys::kCounters;
  std::unordered_map<std::string, std::uint64_t> others;
  http::TopReport report;
  for (telemetry::HotKey& key :
       deps_.engines.hot_keys.top(denied ? HotKeyKind::Requested : HotKeyKind::Denied, kMost)) {
    if (!denied) report.all_denied += key.count - key.error;
    others.emplace(std::move(key.key), key.count);
  }
  for (const telemetry::HotKey& key :
       deps_.engines.hot_keys.top(denied ? HotKeyKind::Denied : HotKeyKind::Requested, kMost)) {
    TopEntry entry = entry_of(key.key);
    const auto other = others.find(key.key);
    const std::uint64_t of_other = other == others.end() ? 0 : other->second;
    entry.asked = denied ? of_other : key.count;
    entry.denied = denied ? key.count : of_other;
    if (denied) report.all_denied += key.count - key.error;
    report.entries.push_back(std::move(entry));
  }
  return report;
}

std::vector<telemetry::DeniedSubject> AdminData::denied(DataScope scope) const {
  std::vector<telemetry::DeniedSnapshot> snapshots = deps_.engines.hot_keys.denied();
  if (uses_fleet(scope)) fleet_.add_to(snapshots);
  return telemetry::merge_denied(snapshots);
}

http::TopReport AdminData::newly_denied(DataScope scope) const {
  http::TopReport report;
  for (const telemetry::DeniedSubject& each : denied(scope)) {
    TopEntry entry = entry_of(each.key);
    entry.asked = entry.denied = each.count;
    entry.first_denied = each.first;
    report.all_denied += each.count;
    report.entries.push_back(std::move(entry));
  }
  return report;
}

http::TopReport AdminData::top(const http::TopQuery& query) {
  on_asked();
  const bool is_new = query.by == TopBy::New;
  http::TopReport report = is_new ? newly_denied(query.scope) : own_top(query.by);
  if (!is_new && uses_fleet(query.scope)) fleet_.add_to(report, query);
  if (!query.rule.empty()) {
    std::erase_if(report.entries,
                  [&](const TopEntry& each) { return !is_limit_of(each.rule, query.rule); });
  }
  if (report.entries.size() > query.count) report.entries.resize(query.count);
  if (is_new) return report;
  std::unordered_map<std::string, Instant> first;
  for (const telemetry::DeniedSubject& each : denied(query.scope)) first[each.key] = each.first;
  for (TopEntry& entry : report.entries) {
    const auto found = first.find(entry.rule + " " + entry.subject);
    if (found != first.end()) entry.first_denied = found->second;
  }
  return report;
}

std::vector<telemetry::DeniedSubject> AdminData::denials_of(std::string_view subject) {
  on_asked();
  std::vector<telemetry::DeniedSubject> all = denied(default_scope());
  std::erase_if(all, [&](const telemetry::DeniedSubject& each) {
    const std::size_t space = each.key.find(' ');
    return space == std::string::npos || std::string_view(each.key).substr(space + 1) != subject;
  });
  return all;
}

http::EnforcementReport AdminData::own_enforcement() const {
  http::EnforcementInput input{.store_error = store_error(),
                               .store_down_since = down_since_,
                               .workers = stores_.size(),
                               .reload_error = reload_error_};
  for (const store::StoreHealth& store : stores_) {
    if (!store.serving) ++input.workers_without_store;
  }
  for (const auto& rule : deps_.configuration.rules->rules()) {
    if (rule->shadow) {
      ++input.shadow;
    } else if (rule->action != rules::Action::Limit || rule->terms.mode == core::Mode::Local) {
      ++input.without_store;
    } else if (rule->on_failure == rules::OnFailure::Open) {
      input.open.push_back(name_of(*rule));
    } else {
      ++(rule->on_failure == rules::OnFailure::Closed ? input.closed : input.local);
    }
  }
  for (const service::RolloutReport& rollout : deps_.engines.rollouts.report()) {
    if (rollout.aborted) input.aborted_rollouts.push_back(rollout.rule);
  }
  return http::assess(input);
}

http::NodeState AdminData::own_state() const {
  const telemetry::RequestCounts second = history_.last_second();
  return {.node = deps_.node,
          .version = std::string(kVersion),
          .config_hash = config_hash_,
          .loaded_at = loaded_at_,
          .started_at = started_at_,
          .reload_error = reload_error_,
          .enforcement = own_enforcement(),
          .admitted_per_s = second.admitted,
          .denied_per_s = second.denied,
          .seen_at = system_clock().now()};
}

http::StoreState AdminData::store_state() const {
  const telemetry::LatencyBuckets buckets = latency_.last_minute();
  const auto percentile = [&](std::int64_t percent) {
    return std::chrono::floor<std::chrono::microseconds>(
               telemetry::latency_percentile(buckets, percent))
        .count();
  };
  http::StoreState state{.is_memory = deps_.configuration.settings.uses_memory_store(),
                         .error = store_error(),
                         .latency_p50_us = percentile(50),
                         .latency_p99_us = percentile(99)};
  state.serving = state.error.empty();
  store::BreakerState breaker = store::BreakerState::Closed;
  for (const store::StoreHealth& store : stores_) {
    breaker = std::max(breaker, store.breaker);
    state.round_trips += store.round_trips;
    state.timeouts += store.timeouts;
  }
  state.breaker = breaker_word(breaker);
  return state;
}

http::StateReport AdminData::state() {
  on_asked();
  http::StateReport report{.now = system_clock().now(), .store = store_state()};
  report.nodes.push_back(own_state());
  report.enforcement = report.nodes.front().enforcement;
  fleet_.add_to(report.enforcement, report.nodes.front());
  for (http::NodeState& other : fleet_.states()) report.nodes.push_back(std::move(other));
  for (const service::RolloutReport& rollout : deps_.engines.rollouts.report()) {
    report.rollouts.push_back({.rule = rollout.rule,
                               .enforce = rollout.enforce,
                               .aborted = rollout.aborted,
                               .aborted_at = rollout.aborted_at,
                               .denied = denied_share(rollout.recent)});
  }
  return report;
}

http::HistoryReport AdminData::history(telemetry::History::Span span, DataScope scope) {
  on_asked();
  http::HistoryReport report{.series = history_.series(span), .now = system_clock().now()};
  report.marks.assign(history_.marks().begin(), history_.marks().end());
  for (telemetry::Mark& mark : report.marks) mark.node = deps_.node;
  if (uses_fleet(scope)) fleet_.add_to(report);
  return report;
}

http::NodeDetails AdminData::own_details() const {
  http::NodeDetails details{.seconds = history_.series(telemetry::History::Span::FiveMinutes)};
  details.marks.assign(history_.marks().begin(), history_.marks().end());
  for (auto& [metric, stats] : own_rule_stats()) details.rules.push_back(stats);
  std::stable_sort(details.rules.begin(), details.rules.end(), [](const auto& a, const auto& b) {
    return a.recent.denied_per_s > b.recent.denied_per_s;
  });
  http::TopReport denied_most = own_top(TopBy::Denied);
  details.top_denied = std::move(denied_most.entries);
  details.all_denied = denied_most.all_denied;
  details.top_asked = own_top(TopBy::Asked).entries;
  details.denied = denied(DataScope::Node);
  return details;
}

http::Promises AdminData::promises() {
  on_asked();
  http::Promises promises;
  std::unordered_map<std::string, std::uint64_t> failed_open;  // by metric
  deps_.metrics.for_each_series(metrics::kDecisions, [&](auto labels, std::int64_t sum) {
    if (labels[1] == "failed_open") failed_open[labels[2]] += static_cast<std::uint64_t>(sum);
  });
  for (const core::Mode mode : {core::Mode::Exact, core::Mode::LeaseStrict, core::Mode::Lease,
                                core::Mode::Adaptive, core::Mode::Local}) {
    http::ModePromise promise{.mode = to_string(mode), .bound = bound_of(mode)};
    for (const auto& rule : deps_.configuration.rules->rules()) {
      if (rule->action != rules::Action::Limit || rule->terms.mode != mode) continue;
      ++promise.rules;
      const auto found = failed_open.find(rule->metric.empty() ? rule->name : rule->metric);
      if (found != failed_open.end()) promise.observed_excess += found->second;
    }
    if (promise.rules > 0) promises.modes.push_back(promise);
  }
  const auto total = [&](const telemetry::Metric& metric) {
    return static_cast<std::uint64_t>(deps_.metrics.total(metric));
  };
  promises.leased_keys = total(metrics::kLeasedKeys);
  promises.units_leased = total(metrics::kUnitsLeased);
  const service::OutageLedger::Totals outage = deps_.engines.local.ledger().totals();
  promises.outage_pending = outage.names;
  promises.outage_reported = outage.reported;
  promises.outage_lost = outage.lost;
  promises.orphan_keys = static_cast<std::uint64_t>(deps_.metrics.value(metrics::kOrphanKeys));
  promises.evictions = deps_.engines.memory.stats().evicted;
  return promises;
}

std::vector<rules::Token> AdminData::tokens() {
  return deps_.configuration.settings.http.all_tokens();
}

std::string AdminData::admin_host() {
  const auto& admin = deps_.configuration.settings.admin;
  return admin ? admin->host : std::string{};
}

DataScope AdminData::default_scope() {
  return deps_.configuration.settings.uses_memory_store() ? DataScope::Node : DataScope::Fleet;
}

bool AdminData::uses_fleet(DataScope scope) const {
  return scope == DataScope::Fleet && !deps_.configuration.settings.uses_memory_store();
}

}  // namespace penstock::daemon
