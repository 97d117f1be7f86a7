#pragma once

#include "audit/audit_run.hpp"
#include "base/deadline.hpp"
#include "penstock/redis_options.hpp"
#include "redis_store/blocking_store.hpp"
#include "rules/settings/settings.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace penstock::daemon {

// Scans the shared store for orphan keys every `store.audit_interval`, slowly, on its own thread
// and connection, or publishes the result of another node; the audit note (audit.hpp) decides which
// node scans.
//
// Thread-safety: none.
class StoreAuditor {
 public:
  // REQUIRES: metrics and log outlive the auditor.
  StoreAuditor(const rules::Settings& settings, std::string node, telemetry::Metrics& metrics,
               telemetry::Log& log);
  // Stops a running audit.
  ~StoreAuditor();
  StoreAuditor(const StoreAuditor&) = delete;
  StoreAuditor& operator=(const StoreAuditor&) = delete;

  // Used from the next audit on. Thread-safe.
  void reload(const rules::Settings& settings);

 private:
  struct Options {
    RedisOptions redis;
    std::optional<Duration> every;  // empty: no audits
  };
  [[nodiscard]] static Options options_from(const rules::Settings& settings);

  void run(const std::stop_token& stop);
  // Waits for the next poll and takes new options. Whether to audit now.
  [[nodiscard]] bool wait(const std::stop_token& stop);
  [[nodiscard]] Result<void> run_audit_if_claimed(const std::stop_token& stop);
  [[nodiscard]] Result<void> audit_keys(const std::stop_token& stop);
  // Whether this node has the claim to audit.
  [[nodiscard]] Result<bool> claim();
  // Logs failures at debug level only: the scan reports them too.
  void renew_claim();
  void publish(const audit::AuditSummary::Fault& orphans);

  Options options_;
  base::Deadline polled_at_ = base::monotonic_now();
  std::string node_;
  std::string key_;  // of the note
  telemetry::Metrics& metrics_;
  telemetry::Log& log_;
  std::unique_ptr<redis_store::BlockingStore> store_;  // null until connected
  std::string last_error_;                             // the last one logged
  std::mutex mutex_;
  std::optional<Options> new_options_;  // guarded by mutex_
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace penstock::daemon
