#include "service/rollouts.hpp"

#include "core/duration_text.hpp"
#include "telemetry/metric_catalogue.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

bool can_abort(const rules::Rule& rule) { return rule.rollout && rule.rollout->abort; }

std::string full_name(const rules::Rule& rule) { return rule.domain + "/" + rule.name; }

}  // namespace

std::string abort_text(const RolloutReport& report) {
  return report.rule + ": " + rules::percent_text(denied_share(report.recent)) + " of " +
         std::to_string(report.recent.enforced) + " requests were denied within " +
         core::exact_text(report.abort->over) + ", more than " +
         rules::percent_text(report.abort->denied_above) +
         "; the rule is in shadow mode until the next reload";
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

void Rollouts::use(std::shared_ptr<const rules::Ruleset> rules, base::Deadline now) {
  const std::lock_guard lock(mutex_);
  if (rules_ == rules) return;
  namespace metrics = telemetry::metrics;
  const auto reset_metrics = [this] {
    for (const auto& rule : rules_->rules()) {
      if (can_abort(*rule)) metrics_.set(metrics::kRolloutAborted, 0, {full_name(*rule)});
    }
  };
  if (rules_ != nullptr) reset_metrics();
  rules_ = std::move(rules);
  reset_metrics();
  const auto& all = rules_->rules();
  const bool has_some =
      std::any_of(all.begin(), all.end(), [](const auto& rule) { return can_abort(*rule); });
  set_ = has_some ? std::make_shared<RolloutSet>(rules_, now) : nullptr;
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
