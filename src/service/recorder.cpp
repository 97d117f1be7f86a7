#include "service/recorder.hpp"

#include "service/failure_policy.hpp"
#include "service/rollouts.hpp"

#include <algorithm>
#include <utility>

namespace penstock::service {
namespace {

using telemetry::Cell;
using telemetry::HotKeyKind;
namespace metrics = telemetry::metrics;

// Names of series that this worker remembers; the metrics have a bound of their own.
constexpr std::size_t kMaxNames = 10'000;
constexpr std::string_view kUnknownDomain = "unknown";
constexpr std::string_view kFromRequest = "from_request";

// "connection lost" as Prometheus would write it.
std::string label_of(ErrorCode code) {
  std::string label(to_string(code));
  std::replace(label.begin(), label.end(), ' ', '_');
  return label;
}

constexpr std::size_t kMaxNameBytes = 200;

bool has_failed(Reason reason) {
  return reason == Reason::FailedOpen || reason == Reason::FailedClosed ||
         reason == Reason::DecidedLocally;
}

std::string_view name_of(const rules::MatchedLimit& matched) {
  // it may have words of the request in it
  if (!matched.metric.empty()) return std::string_view(matched.metric).substr(0, kMaxNameBytes);
  if (matched.rule == nullptr) return kFromRequest;
  return matched.rule->metric.empty() ? matched.rule->name : matched.rule->metric;
}

}  // namespace

Recorder::Recorder(telemetry::WorkerMetrics& metrics, telemetry::HotKeys& hot_keys,
                   telemetry::RateLimitedLog& log, NearLimits* near_limits)
    : metrics_(metrics),
      hot_keys_(hot_keys),
      log_(log),
      near_limits_(near_limits),
      latency_(metrics.latency(metrics::kStoreLatency)),
      failed_open_(metrics.cell(metrics::kFailedOpen)),
      local_denied_(metrics.cell(metrics::kLocalDenied)),
      shadow_denied_(metrics.cell(metrics::kShadowDenied)),
      unknown_domain_allowed_(metrics.cell(metrics::kUnknownDomain, {"allowed"})),
      unknown_domain_denied_(metrics.cell(metrics::kUnknownDomain, {"denied"})) {
  for (std::size_t code = 0; code < errors_.size(); ++code) {
    errors_[code] = &metrics.cell(metrics::kStoreErrors, {label_of(static_cast<ErrorCode>(code))});
  }
}

void Recorder::on_store_call(std::chrono::steady_clock::duration waited, const Error* failure) {
  latency_.observe(waited);
  if (failure == nullptr) return;
  errors_[static_cast<std::size_t>(failure->code)]->add();
  last_error_ = failure->detail;
}

void Recorder::on_answer(std::string_view domain, const Answer& answer) {
  if (domain.empty()) domain = kUnknownDomain;
  auto known = by_domain_.find(domain);
  if (known == by_domain_.end()) {
    if (by_domain_.size() >= kMaxNames) by_domain_.clear();
    known = by_domain_.emplace(domain, ReasonCells{}).first;
  }
  Cell*& requests = known->second[static_cast<std::size_t>(answer.reason)];
  if (requests == nullptr) {
    requests = &metrics_.cell(metrics::kRequests, {to_string(answer.reason), domain});
  }
  requests->add();
  if (answer.reason == Reason::FailedOpen) failed_open_.add();
  if (answer.rules != ruleset_) {
    ruleset_ = answer.rules;
    by_rule_.clear();
  }
  bool is_rollout = false;
  for (const LimitAnswer& limit : answer.limits) {
    count(limit, domain, answer);
    is_rollout = is_rollout || limit.rollout != nullptr;
  }
  if (is_rollout) count_rollouts(answer);
  if (has_failed(answer.reason)) warn_of_failure(domain, answer);
}

void Recorder::on_unknown_domain(std::string_view domain, rules::UnknownDomain answer) {
  const bool is_denied = answer == rules::UnknownDomain::Deny;
  (is_denied ? unknown_domain_denied_ : unknown_domain_allowed_).add();
  if (std::exchange(unknown_domain_logged_, true)) return;
  log_.warning("a request named a domain without rules",
               {{"domain", domain.substr(0, kMaxNameBytes)},
                {"decision", is_denied ? "denied" : "allowed"}});
}

void Recorder::on_take(std::string_view subject, const Decision& decision) {
  const bool allowed = decision.allowed();
  const Reason reason = allowed ? Reason::WithinLimits : Reason::OverLimit;
  LimitOutcome outcome = LimitOutcome::Allowed;
  if (!allowed) {
    outcome = decision.outcome() == Outcome::Blocked ? LimitOutcome::Blocked : LimitOutcome::Denied;
  }
  Cell*& requests = take_requests_[static_cast<std::size_t>(reason)];
  if (requests == nullptr) {
    requests = &metrics_.cell(metrics::kRequests, {to_string(reason), kTake});
  }
  requests->add();
  Cell*& decisions = take_decisions_[static_cast<std::size_t>(outcome)];
  if (decisions == nullptr) {
    decisions = &metrics_.cell(metrics::kDecisions,
                               {kTake, kLimitOutcomes[static_cast<std::size_t>(outcome)], kTake});
  }
  decisions->add();
  hot_keys_.note(HotKeyKind::Requested, {}, subject);
  if (!allowed) hot_keys_.note(HotKeyKind::Denied, {}, subject);
}

std::optional<Recorder::LimitOutcome> Recorder::outcome_of(const LimitAnswer& limit,
                                                           const Answer& answer) {
  if (role_of(limit.matched) == Role::Refund) return std::nullopt;
  if (!limit.decision) {
    if (limit.shadow || !has_failed(answer.reason)) return std::nullopt;  // not checked
    if (answer.reason != Reason::FailedClosed) return LimitOutcome::FailedOpen;
    return failed_closed(limit) ? std::optional(LimitOutcome::FailedClosed) : std::nullopt;
  }
  if (limit.local) return LimitOutcome::Local;
  if (limit.decision->allowed()) {
    return answer.allowed ? std::optional(LimitOutcome::Allowed) : std::nullopt;
  }
  if (limit.shadow) return LimitOutcome::ShadowDenied;
  return limit.decision->outcome() == Outcome::Blocked ? LimitOutcome::Blocked
                                                       : LimitOutcome::Denied;
}

void Recorder::count(const LimitAnswer& limit, std::string_view domain, const Answer& answer) {
  const core::LimitKey& name = limit.matched.check.name;
  if (limit.decision) hot_keys_.note(HotKeyKind::Requested, name.limit, name.subject);
  const std::optional<LimitOutcome> outcome = outcome_of(limit, answer);
  if (!outcome) return;
  cell_of(limit, domain, *outcome).add();
  const rules::Rule* const rule = limit.matched.rule;
  if (rule != nullptr && rule->near_limit != 0 && near_limits_ != nullptr && limit.decision) {
    near_limits_->on_decision(limit, *answer.clock);
  }
  if (*outcome == LimitOutcome::ShadowDenied) {
    shadow_denied_.add();
  } else if (limit.decision && !limit.decision->allowed()) {
    hot_keys_.note(HotKeyKind::Denied, name.limit, name.subject);
  }
}

void Recorder::count_rollouts(const Answer& answer) {
  const std::vector<LimitAnswer>& limits = answer.limits;
  for (auto limit = limits.begin(); limit != limits.end(); ++limit) {
    const auto is_same = [&](const LimitAnswer& other) { return other.rollout == limit->rollout; };
    if (limit->rollout == nullptr || std::any_of(limits.begin(), limit, is_same)) continue;
    bool is_decided = false;
    bool is_denied = false;
    for (auto other = limit; other != limits.end(); ++other) {
      // a block by an operator is no decision of the rule
      if (!is_same(*other) || !other->decision) continue;
      if (other->decision->outcome() == Outcome::Blocked) continue;
      is_decided = true;
      is_denied = is_denied || !other->decision->allowed();
    }
    using Counted = RolloutCounter::Outcome;
    if (is_decided) limit->rollout->count(is_denied ? Counted::Denied : Counted::Passed);
  }
}

Recorder::RuleCells& Recorder::cells_of(const rules::MatchedLimit& matched) {
  if (matched.rule != nullptr && matched.metric.empty()) {
    const std::size_t index = matched.rule->index;
    if (by_rule_.size() <= index) by_rule_.resize(index + 1);
    return by_rule_[index];
  }
  const std::string_view name = name_of(matched);
  if (const auto known = by_metric_.find(name); known != by_metric_.end()) return known->second;
  if (by_metric_.size() >= kMaxNames) by_metric_.clear();
  return by_metric_.emplace(name, RuleCells{}).first->second;
}

Cell& Recorder::cell_of(const LimitAnswer& limit, std::string_view domain, LimitOutcome outcome) {
  Cell*& cell = cells_of(limit.matched)[static_cast<std::size_t>(outcome)];
  if (cell == nullptr) {
    const rules::Rule* const rule = limit.matched.rule;
    cell = &metrics_.cell(metrics::kDecisions, {rule == nullptr ? domain : rule->domain,
                                                kLimitOutcomes[static_cast<std::size_t>(outcome)],
                                                name_of(limit.matched)});
  }
  return *cell;
}

void Recorder::warn_of_failure(std::string_view domain, const Answer& answer) {
  if (answer.reason == Reason::DecidedLocally && !answer.allowed) local_denied_.add();
  log_.warning("a request was decided without the store",
               {{"decision", answer.allowed ? "allowed" : "denied"},
                {"reason", to_string(answer.reason)},
                {"domain", domain},
                {"error", last_error_}});
}

void Recorder::tick(const store::StoreHealth& health, const store::LeaseStats& leases) {
  const auto set = [&](const telemetry::Metric& metric, std::uint64_t value) {
    metrics_.cell(metric).set(static_cast<std::int64_t>(value));
  };
  set(metrics::kStoreServing, health.serving ? 1 : 0);
  set(metrics::kStoreRoundTrips, health.round_trips);
  set(metrics::kStoreTimeouts, health.timeouts);
  set(metrics::kStoreFastFails, health.fast_fails);
  set(metrics::kStoreConnects, health.connects);
  set(metrics::kDecidedByLease, leases.decided_by_lease);
  set(metrics::kDecidedByDenial, leases.decided_by_denial);
  set(metrics::kLeaseRequests, leases.requests);
  set(metrics::kUnitsLeased, leases.units_leased);
  set(metrics::kLeasedKeys, leases.leased_keys);
  set(metrics::kScriptReloads, health.script_loads);
  unknown_domain_logged_ = false;
  hot_keys_.tick();
  log_.tick();
  if (near_limits_ != nullptr) near_limits_->tick();
}

telemetry::Metrics::Source memory_source(const store::ShardedTable& memory) {
  return [&memory](const telemetry::Metrics::Report& report) {
    const MemoryStats stats = memory.stats();
    report(metrics::kMemoryKeys, static_cast<double>(stats.keys));
    report(metrics::kMemoryBytes, static_cast<double>(stats.bytes));
    report(metrics::kMemoryBlocked, static_cast<double>(stats.blocked));
    report(metrics::kMemoryEvicted, static_cast<double>(stats.evicted));
    report(metrics::kMemoryForgiven, static_cast<double>(stats.evicted_usage));
  };
}

telemetry::Metrics::Source membership_source(const Membership& members) {
  return [&members](const telemetry::Metrics::Report& report) {
    report(metrics::kNodes, static_cast<double>(members.nodes()));
  };
}

telemetry::Metrics::Source outage_source(const LocalFallback& local) {
  return [&local](const telemetry::Metrics::Report& report) {
    const OutageLedger::Totals numbers = local.ledger().totals();
    report(metrics::kOutagePending, static_cast<double>(numbers.names));
    report(metrics::kOutageReported, static_cast<double>(numbers.reported));
    report(metrics::kOutageLost, static_cast<double>(numbers.lost));
  };
}

telemetry::Metrics::Source override_source(const LiveOverrides& overrides) {
  return [&overrides](const telemetry::Metrics::Report& report) {
    report(metrics::kOverrides, static_cast<double>(overrides.count(system_clock().now())));
  };
}

}  // namespace penstock::service
