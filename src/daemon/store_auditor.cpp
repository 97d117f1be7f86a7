#include "daemon/store_auditor.hpp"

#include "audit/audit.hpp"
#include "audit/redis_access.hpp"
#include "penstock/clock.hpp"
#include "redis_store/script_calls.hpp"

#include <algorithm>
#include <utility>

namespace penstock::daemon {
namespace {

using redis_store::command_for_key;
using std::chrono::milliseconds;

// Four short commands per key, about 10 us of Redis each: 2 % of its time.
constexpr std::uint64_t kKeysPerSecond = 2'000;
constexpr unsigned kPage = 100;
constexpr Duration kClaimLasts = std::chrono::minutes{1};  // unless renewed
constexpr Duration kClaimAgain = std::chrono::seconds{10};
// No request waits for these calls.
constexpr Duration kMinTimeout = std::chrono::seconds{2};

std::string milliseconds_text(Duration duration) {
  return std::to_string(std::chrono::ceil<milliseconds>(duration).count());
}

// How often a node reads the result of the others.
Duration poll_interval(Duration audit_interval) {
  return std::clamp<Duration>(audit_interval / 10, milliseconds{100}, std::chrono::minutes{1});
}

}  // namespace

StoreAuditor::StoreAuditor(const rules::Settings& settings, std::string node,
                           telemetry::Metrics& metrics, telemetry::Log& log)
    : options_(options_from(settings)),
      node_(std::move(node)),
      key_(redis_store::KeyLayout(settings.redis.key_prefix).audit()),
      metrics_(metrics),
      log_(log) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

StoreAuditor::~StoreAuditor() = default;

StoreAuditor::Options StoreAuditor::options_from(const rules::Settings& settings) {
  Options options{.redis = settings.redis, .every = settings.audit_interval};
  options.redis.timeout = std::max(options.redis.timeout, kMinTimeout);
  return options;
}

void StoreAuditor::reload(const rules::Settings& settings) {
  const std::lock_guard lock(mutex_);
  new_options_ = options_from(settings);
  changed_.notify_one();
}

void StoreAuditor::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!wait(stop)) continue;
    const Result<void> done = run_audit_if_claimed(stop);
    if (stop.stop_requested()) return;
    std::string error = done ? std::string{} : done.error().detail;
    if (!error.empty() && error != last_error_) {
      log_.warning("store audit failed", {{"error", error}});
    }
    last_error_ = std::move(error);
  }
}

bool StoreAuditor::wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_changed = [this] { return new_options_.has_value(); };
  if (options_.every) {
    changed_.wait_until(lock, stop, polled_at_ + poll_interval(*options_.every), is_changed);
  } else {
    changed_.wait(lock, stop, is_changed);
  }
  if (!new_options_) {
    polled_at_ = base::monotonic_now();
    return !stop.stop_requested();
  }
  options_ = *std::exchange(new_options_, std::nullopt);
  store_.reset();
  return false;
}

Result<void> StoreAuditor::run_audit_if_claimed(const std::stop_token& stop) {
  if (store_ == nullptr) {
    Result<std::unique_ptr<redis_store::BlockingStore>> connected = audit::connect(options_.redis);
    if (!connected) return connected.error();
    store_ = *std::move(connected);
  }
  const Result<bool> is_ours = claim();
  if (!is_ours) return is_ours.error();
  if (*is_ours) return audit_keys(stop);
  const Result<resp::Value> note =
      audit::execute_one(*store_, command_for_key(key_, {"GET", key_}), options_.redis.timeout);
  if (!note) return note.error();
  if (const auto orphans = audit::orphans_from_note(note->text)) {
    metrics_.set(telemetry::metrics::kOrphanKeys, static_cast<double>(*orphans));
  }
  return {};
}

Result<bool> StoreAuditor::claim() {
  const Result<resp::Value> made =
      audit::execute_one(*store_,
                         command_for_key(key_, {"SET", key_, audit::audit_claim_note(node_), "NX",
                                                "PX", milliseconds_text(kClaimLasts)}),
                         options_.redis.timeout);
  if (!made) return made.error();
  return !made->is(resp::Value::Type::Nil);
}

void StoreAuditor::renew_claim() {
  const Result<resp::Value> renewed =
      audit::execute_one(*store_,
                         command_for_key(key_, {"SET", key_, audit::audit_claim_note(node_), "PX",
                                                milliseconds_text(kClaimLasts)}),
                         options_.redis.timeout);
  if (!renewed) log_.debug("the audit claim was not renewed", {{"error", renewed.error().detail}});
}

Result<void> StoreAuditor::audit_keys(const std::stop_token& stop) {
  Instant again = system_clock().now() + kClaimAgain;
  const Result<audit::AuditReport> report = audit::audit(*store_,
                                                         {.prefix = options_.redis.key_prefix,
                                                          .page = kPage,
                                                          .keys_per_second = kKeysPerSecond,
                                                          .stop = stop,
                                                          .timeout = options_.redis.timeout},
                                                         [&](double) {
                                                           if (system_clock().now() < again) return;
                                                           again =
                                                               system_clock().now() + kClaimAgain;
                                                           renew_claim();
                                                         });
  if (!report) return report.error();
  const audit::AuditSummary::Fault& orphans = report->summary.orphans();
  publish(orphans);
  const Result<resp::Value> noted =
      audit::execute_one(*store_,
                         command_for_key(key_, {"SET", key_, audit::audit_result_note(orphans.keys),
                                                "PX", milliseconds_text(*options_.every)}),
                         options_.redis.timeout);
  if (!noted) return noted.error();
  return {};
}

void StoreAuditor::publish(const audit::AuditSummary::Fault& orphans) {
  metrics_.set(telemetry::metrics::kOrphanKeys, static_cast<double>(orphans.keys));
  if (orphans.keys == 0) return;
  log_.warning("keys in Redis never expire, or were not written by Penstock",
               {{"keys", std::to_string(orphans.keys)},
                {"example", orphans.examples.front()},
                {"fix", "penstock audit --repair"}});
}

}  // namespace penstock::daemon
