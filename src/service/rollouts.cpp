#include "service/rollouts.hpp"

#include "core/duration_text.hpp"
#include "telemetry/metric_catalogue.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

bool can_abort(const rules::Rule& rule) { return rule.rollout && rule.rollout->abort; }

std::string full_name(const rules::Rule& rule) { return rule.domain + "/" + rule.name; }

bool is_same_rollout(const rules::Rule& a, const rules::Rule& b) {
  return a.limits == b.limits && a.key == b.key && a.rollout == b.rollout;
}

}  // namespace

std::string abort_text(const RolloutReport& report) {
  return report.rule + ": " + rules::percent_text(denied_share(report.recent)) + " of " +
         std::to_string(report.recent.enforced) + " requests were denied within " +
         core::exact_text(report.abort->over) + ", more than " +
         rules::percent_text(report.abort->denied_above) +
         "; the rule is in shadow mode until the rule changes or a restart";
}

RolloutSet::RolloutSet(std::shared_ptr<const rules::Ruleset> rules, base::Deadline now)
    : rules_(std::move(rules)), by_rule_(rules_->rules().size()) {
  for (const auto& rule : rules_->rules()) {
    if (can_abort(*rule)) by_rule_[rule->index] = std::make_unique<State>(*rule, now);
  }
}

RolloutSet::State* RolloutSet::find(const rules::Rule* rule) const noexcept {
  return rule == nullptr ? nullptr : by_rule_[rule->index].get();
}

void RolloutSet::apply(std::span<LimitAnswer> limits, std::size_t worker) noexcept {
  for (LimitAnswer& limit : limits) {
    State* const state = find(limit.matched.rule);
    if (state == nullptr) continue;
    // relaxed: an abort may take effect a request later
    if (state->aborted.load(std::memory_order_relaxed)) limit.matched.shadow = true;
    // what an operator changed says nothing about the rule
    if (role_of(limit.matched) == Role::Enforced && limit.overridden_by == nullptr) {
      limit.rollout = &state->counters[worker % kCounters];
    }
  }
}

bool RolloutSet::is_aborted(const rules::Rule& rule) const noexcept {
  const State* const state = find(&rule);
  return state != nullptr && state->aborted.load(std::memory_order_relaxed);
}

void RolloutSet::keep_aborts(const RolloutSet& before) {
  for (const auto& old : before.by_rule_) {
    if (old == nullptr || !old->aborted.load(std::memory_order_relaxed)) continue;
    const rules::Rule* const rule = rules_->find(old->rule.domain, old->rule.name);
    State* const state = find(rule);
    if (state == nullptr || !is_same_rollout(*rule, old->rule)) continue;
    state->window = old->window;
    state->aborted_at = old->aborted_at;
    state->aborted.store(true, std::memory_order_relaxed);
  }
}

void Rollouts::use(std::shared_ptr<const rules::Ruleset> rules, base::Deadline now) {
  const std::lock_guard lock(mutex_);
  if (rules_ == rules) return;
  const std::shared_ptr<const rules::Ruleset> rules_before = std::exchange(rules_, rules);
  const auto& all = rules_->rules();
  const bool has_some =
      std::any_of(all.begin(), all.end(), [](const auto& rule) { return can_abort(*rule); });
  auto set = has_some ? std::make_shared<RolloutSet>(rules_, now) : nullptr;
  if (set != nullptr && set_ != nullptr) set->keep_aborts(*set_);
  set_ = std::move(set);
  if (rules_before != nullptr) set_metrics(*rules_before);
  set_metrics(*rules_);
}

// Those of rules that are no longer there become 0.
void Rollouts::set_metrics(const rules::Ruleset& of) {
  for (const auto& rule : of.rules()) {
    if (!can_abort(*rule)) continue;
    const rules::Rule* const now = rules_->find(rule->domain, rule->name);
    const bool is_aborted = set_ != nullptr && now != nullptr && set_->is_aborted(*now);
    metrics_.set(telemetry::metrics::kRolloutAborted, is_aborted ? 1 : 0, {full_name(*rule)});
  }
}

std::shared_ptr<RolloutSet> Rollouts::find(const rules::Ruleset& rules) const {
  const std::lock_guard lock(mutex_);
  return rules_.get() == &rules ? set_ : nullptr;
}

void Rollouts::tick(base::Deadline now, Instant time) {
  const std::lock_guard lock(mutex_);
  if (set_ == nullptr) return;
  for (const auto& state : set_->by_rule_) {
    if (state == nullptr || state->aborted.load(std::memory_order_relaxed)) continue;
    RolloutTotals totals;
    for (const RolloutCounter& counter : state->counters) totals = totals + counter.totals();
    if (!state->window.update(totals, now)) continue;
    state->aborted_at = time;
    state->aborted.store(true, std::memory_order_relaxed);
    const RolloutReport report = report_of(state->rule, state.get());
    metrics_.set(telemetry::metrics::kRolloutAborted, 1, {report.rule});
    log_.warning("roll-out aborted", {{"rule", report.rule},
                                      {"enforce", rules::percent_text(report.enforce)},
                                      {"reason", abort_text(report)}});
  }
}

std::vector<RolloutReport> Rollouts::report() const {
  const std::lock_guard lock(mutex_);
  std::vector<RolloutReport> reports;
  if (rules_ == nullptr) return reports;
  for (const auto& rule : rules_->rules()) {
    if (!rule->rollout) continue;
    reports.push_back(report_of(*rule, set_ == nullptr ? nullptr : set_->find(rule.get())));
  }
  return reports;
}

RolloutReport Rollouts::report_of(const rules::Rule& rule, const RolloutSet::State* state) {
  RolloutReport report{
      .rule = full_name(rule), .enforce = rule.rollout->enforce, .abort = rule.rollout->abort};
  if (state == nullptr) return report;
  report.aborted = state->aborted.load(std::memory_order_relaxed);
  report.aborted_at = state->aborted_at;
  report.recent = state->window.recent();
  return report;
}

}  // namespace penstock::service
