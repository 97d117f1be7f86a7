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

// Looks for orphans in the shared store now and then, slowly, on a thread and a connection of its
// own, or shows what another node has found; see audit_note.hpp for whose turn it is.
//
// Thread-safety: none.
class StoreAuditor {
 public:
  // REQUIRES: `settings.audit_interval` is given; metrics and log outlive the auditor.
  StoreAuditor(const rules::Settings& settings, std::string node, telemetry::Metrics& metrics,
               telemetry::Log& log);
  // Ends an audit under way.
  ~StoreAuditor();
  StoreAuditor(const StoreAuditor&) = delete;
  StoreAuditor& operator=(const StoreAuditor&) = delete;

  // Connects with these options from its next turn on; may be called while an audit runs.
  void renew_credentials(RedisOptions options);

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Result<void> run_audit_if_claimed(const std::stop_token& stop);
  [[nodiscard]] Result<void> audit_keys(const std::stop_token& stop);
  // Whether it is ours to audit now.
  [[nodiscard]] Result<bool> claim();
  // A failure is the walk's to tell: it asks the same server.
  void renew_claim();
  void publish(const audit::AuditSummary::Fault& orphans);

  RedisOptions options_;
  std::mutex renewed_mutex_;
  std::optional<RedisOptions> renewed_;  // guarded by renewed_mutex_
  std::string node_;
  std::string key_;  // where the note stands
  Duration every_;
  telemetry::Metrics& metrics_;
  telemetry::Log& log_;
  std::unique_ptr<redis_store::BlockingStore> store_;  // once it could be reached
  std::string last_error_;                             // that was told last
  std::mutex mutex_;                                   // only to wait with
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace penstock::daemon
