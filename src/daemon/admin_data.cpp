#include "daemon/admin_data.hpp"

#include "base/deadline.hpp"
#include "penstock/version.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

// What the daemon and its timers feed into it; the reports are in admin_reports.cpp.
namespace penstock::daemon {
namespace {

namespace metrics = telemetry::metrics;
using telemetry::MarkKind;

// Histories are longer than summaries, and change less.
constexpr unsigned kReportsPerHistory = 10;
constexpr std::chrono::seconds kHistoryInterval{10};
// A daemon that starts is not connected yet: no outage.
constexpr std::chrono::seconds kConnectTime{2};

std::string hex(std::uint64_t number) {
  std::string text;
  for (; number > 0; number /= 16) text.insert(text.begin(), "0123456789abcdef"[number % 16]);
  return text.empty() ? "0" : text;
}

telemetry::RequestCounts request_counts(const telemetry::Metrics& source) {
  telemetry::RequestCounts totals;
  const auto count = [](std::int64_t sum) { return static_cast<std::uint64_t>(sum); };
  const std::uint64_t local_denied = count(source.total(metrics::kLocalDenied));
  source.for_each_series(metrics::kRequests, [&](auto labels, std::int64_t sum) {
    const std::string_view reason = labels[0];
    const bool is_local = reason == "decided_locally";
    const bool is_denied = reason == "over_limit" || reason == "deny_listed" ||
                           reason == "failed_closed" || reason == "missing_attribute" ||
                           reason == "unknown_domain";
    (is_denied ? totals.denied : totals.admitted) += count(sum);
    if (is_local || reason == "failed_open" || reason == "failed_closed") {
      totals.without_store += count(sum);
    }
  });
  // requests that the local fallback denied are among those that it decided
  totals.admitted -= std::min(totals.admitted, local_denied);
  totals.denied += local_denied;
  totals.shadow_denied = count(source.total(metrics::kShadowDenied));
  return totals;
}

}  // namespace

AdminData::AdminData(Dependencies dependencies)
    : deps_(std::move(dependencies)),
      forwarder_(deps_.loop, deps_.call_api),
      started_at_(system_clock().now()),
      loaded_at_(started_at_),
      down_since_(started_at_) {}

void AdminData::tick(Instant now) {
  history_.sample(now, request_counts(deps_.metrics));
  sample_rules();
  latency_.sample(deps_.metrics.latency_buckets(metrics::kStoreLatency));
  watch_rollouts();
  forwarder_.expire(base::monotonic_now());
  if (now - asked_at_ <= kPageOpen) {
    read_fleet();
  } else {
    fleet_.clear();
  }
}

void AdminData::sample_rules() {
  base::TextMap<telemetry::RuleTotals> totals;
  deps_.metrics.for_each_series(metrics::kDecisions, [&](auto labels, std::int64_t sum) {
    const std::string& outcome = labels[1];
    telemetry::RuleTotals& rule = totals[labels[2]];
    const auto count = static_cast<std::uint64_t>(sum);
    if (outcome == "shadow_denied") {
      rule.shadow_denied += count;
    } else if (outcome == "denied" || outcome == "blocked" || outcome == "failed_closed") {
      rule.denied += count;
    } else {
      rule.admitted += count;
    }
  });
  rules_.sample(totals);
}

void AdminData::set_stores(std::size_t workers, const store::StoreHealth& health) {
  stores_.assign(workers, health);
}

void AdminData::set_store(std::size_t worker, store::StoreHealth health) {
  stores_[worker] = std::move(health);
  watch_store(system_clock().now());
}

std::string AdminData::store_error() const {
  std::string error;
  for (const store::StoreHealth& store : stores_) {
    if (!store.serving) error = store.reason.empty() ? "not connected yet" : store.reason;
  }
  return error;
}

void AdminData::watch_store(Instant now) {
  const std::string error = store_error();
  has_served_ = has_served_ || error.empty();
  const bool is_starting = !has_served_ && now - started_at_ < kConnectTime;
  if (error.empty() == was_serving_ || is_starting) return;
  was_serving_ = error.empty();
  if (was_serving_) return history_.mark(now, MarkKind::Recovery, "the store serves again");
  down_since_ = now;
  history_.mark(now, MarkKind::Outage, error);
}

void AdminData::watch_rollouts() {
  Instant newest = rollout_aborted_at_;
  for (const service::RolloutReport& rollout : deps_.engines.rollouts.report()) {
    if (!rollout.aborted || rollout.aborted_at <= rollout_aborted_at_) continue;
    newest = std::max(newest, rollout.aborted_at);
    history_.mark(rollout.aborted_at, MarkKind::RolloutAbort, abort_text(rollout));
  }
  rollout_aborted_at_ = newest;
}

void AdminData::on_loaded(std::uint64_t config_hash, MarkKind kind) {
  config_hash_ = hex(config_hash);
  loaded_at_ = system_clock().now();
  reload_error_.clear();
  const std::size_t count = deps_.configuration.rules->rules().size();
  mark(kind, (kind == MarkKind::Start ? "started with " : "reloaded: ") + std::to_string(count) +
                 " rules, configuration " + config_hash_);
}

void AdminData::on_failed_reload(const std::string& why) {
  reload_error_ = why;
  mark(MarkKind::ReloadFailed, why);
}

void AdminData::mark(MarkKind kind, std::string_view text) {
  history_.mark(system_clock().now(), kind, text);
}

void AdminData::on_asked() {
  asked_at_ = system_clock().now();
  if (asked_at_ - fleet_read_at_ >= kFleetInterval) read_fleet();
}

void AdminData::read_fleet() {
  if (is_reading_fleet_ || default_scope() == http::DataScope::Node) return;
  is_reading_fleet_ = true;
  fleet_read_at_ = system_clock().now();
  const bool with_histories =
      fleet_.empty() || fleet_read_at_ - histories_read_at_ >= kHistoryInterval;
  if (with_histories) histories_read_at_ = fleet_read_at_;
  const auto part =
      with_histories ? store::FleetPart::SummariesAndHistories : store::FleetPart::Summaries;
  deps_.read_fleet(part, [this, &loop = deps_.loop](Result<store::FleetReports> reports) {
    // on the thread of the worker, perhaps after this was destroyed: only the loop is used
    boost::asio::post(loop, [this, reports = std::move(reports)] {
      is_reading_fleet_ = false;
      if (reports) fleet_.update(deps_.node, reports->summaries, reports->histories);
    });
  });
}

store::NodeReport AdminData::node_report() {
  http::NodeSummary summary{.state = own_state()};
  store::NodeReport report;
  if (!is_watched_) {
    reports_ = 0;
  } else {
    summary.details = own_details();
    if (reports_++ % kReportsPerHistory == 0) {
      using Span = telemetry::History::Span;
      report.history =
          http::to_text(http::NodeHistory{.node = deps_.node,
                                          .seconds = history_.series(Span::FiveMinutes),
                                          .tens = history_.series(Span::Hour)});
    }
  }
  report.summary = http::to_text(summary);
  return report;
}

void AdminData::call_api(const http::Request& request, http::Handler::Respond respond) {
  forwarder_.call(request, std::move(respond));
}

}  // namespace penstock::daemon
