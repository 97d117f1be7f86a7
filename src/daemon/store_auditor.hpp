#pragma once

#include "audit/audit_run.hpp"
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

// Scans the shared store for orphan keys at intervals, slowly, on its own thread and connection, or
// publishes the result of another node; the audit note (audit.hpp) decides which node scans.
//
// Thread-safety: none.
class StoreAuditor {
 public:
  // REQUIRES: `settings.audit_interval` is set; metrics and log outlive the auditor.
  StoreAuditor(const rules::Settings& settings, std::string node, telemetry::Metrics& metrics,
               telemetry::Log& log);
  // Stops a running audit.
  ~StoreAuditor();
  StoreAuditor(const StoreAuditor&) = delete;
  StoreAuditor& operator=(const StoreAuditor&) = delete;

  // Used from the next audit on. Thread-safe.
  void renew_credentials(RedisOptions options);

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Result<void> run_audit_if_claimed(const std::stop_token& stop);
  [[nodiscard]] Result<void> audit_keys(const std::stop_token& stop);
  // Whether this node has the claim to audit.
  [[nodiscard]] Result<bool> claim();
  // Logs failures at debug level only: the scan reports them too.
  void renew_claim();
  void publish(const audit::AuditSummary::Fault& orphans);

  RedisOptions options_;
  std::mutex renewed_mutex_;
  std::optional<RedisOptions> renewed_;  // guarded by renewed_mutex_
  std::string node_;
  std::string key_;  // of the note
  Duration every_;
  telemetry::Metrics& metrics_;
  telemetry::Log& log_;
  std::unique_ptr<redis_store::BlockingStore> store_;  // null until connected
  std::string last_error_;                             // the last one logged
  std::mutex mutex_;                                   // for stopped_ only
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace penstock::daemon
