#pragma once

#include "daemon/file_watch.hpp"
#include "daemon/serve_worker.hpp"
#include "daemon/store_auditor.hpp"
#include "gateway/upstream/in_flight.hpp"
#include "penstock/result.hpp"
#include "redis_store/lease/change_feed.hpp"
#include "rules/model/configuration.hpp"
#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "store/sharded_table.hpp"
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "wire/http/admin/admin.hpp"
#include "wire/http/server/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::daemon {

// What `penstock serve` was asked for.
struct DaemonOptions {
  std::vector<std::filesystem::path> configuration;
  std::vector<rules::Address> listen{};  // in place of what the configuration says
  std::optional<rules::Address> admin{};
  std::optional<Duration> shutdown_delay{};
};

// The daemon: workers that answer requests, and one more event loop for everything else (signals,
// reloads, the admin port, signs of life), on the thread that runs it.
//
// Thread-safety: none.
class Daemon final : public http::AdminDataSource {
 public:
  // Reads the configuration and listens; errors say what cannot work.
  [[nodiscard]] static Result<std::unique_ptr<Daemon>> make(DaemonOptions options);
  ~Daemon() override;

  // Where it listens, with the ports that were chosen.
  [[nodiscard]] const std::vector<ListenerPlan>& listeners() const { return listeners_; }
  [[nodiscard]] const std::optional<rules::Address>& admin_address() const {
    return admin_address_;
  }

  // Until SIGTERM or SIGINT. Then it is not ready, serves on for server.shutdown_delay, accepts no
  // more, and ends when all requests in flight are answered. Another signal ends the delay, and one
  // more ends the daemon at once.
  void run();

  [[nodiscard]] std::string metrics() override;
  [[nodiscard]] http::Readiness readiness() override;
  [[nodiscard]] http::LoadedRules rules() override;
  [[nodiscard]] std::vector<http::TopEntry> top(http::TopBy by, std::size_t count) override;

 private:
  explicit Daemon(DaemonOptions options, rules::Configuration configuration);

  [[nodiscard]] Result<void> start_workers();
  [[nodiscard]] Result<void> start_admin();
  void wait_for_signal();
  void on_signal(int signal);
  // Calls `what` every so often, until the end.
  void repeat(boost::asio::steady_timer& timer, Duration every, void (Daemon::*what)());
  void watch_files();
  void poll_workers();
  void send_heartbeat();
  // Hears from Redis what others change, and tells the workers.
  void listen_for_changes();
  // Once after each outage.
  void log_outage_summary();
  // Once, when nobody has said how many share the limits and a rule would need to know.
  void warn_of_unknown_nodes();
  // Errors and warnings about the configuration, one line each.
  void log(const rules::Diagnostics& diagnostics);
  void reload();
  void use(rules::Configuration configuration, FileWatch before);
  // Takes what can change while the daemon runs; says what cannot.
  void use_settings(const rules::Settings& settings);
  void on_failed_reload(const std::string& why);
  void update_configuration_metrics(bool is_good);
  void drain();
  void stop();
  void on_worker_stopped();

  DaemonOptions options_;
  rules::Configuration configuration_;
  rules::Settings configured_settings_;  // without what the command line says
  Instant loaded_at_{};
  std::string reload_error_{};
  bool draining_ = false;  // not ready any more
  bool stopping_ = false;

  telemetry::Log log_;
  telemetry::Metrics metrics_;
  telemetry::HotKeyRegistry hot_keys_;
  telemetry::WorkerMetrics& own_metrics_;  // of the thread that runs the daemon

  store::ShardedTable memory_;        // the embedded store
  store::ShardedTable local_memory_;  // what this node admits while the shared store is gone
  service::Membership members_;
  service::LocalFallback local_;
  service::OutageLedger::Totals logged_outage_{};  // as of the last line in the log
  gateway::InFlight in_flight_;                    // of all workers
  std::string node_;                               // what this node calls itself
  unsigned heartbeats_ = 0;
  std::atomic<bool> node_count_known_{false};  // set by a worker: Redis has answered a sign of life

  boost::asio::io_context loop_{1};
  std::unique_ptr<redis_store::ChangeFeed> changes_;  // of a shared store
  boost::asio::signal_set signals_;
  boost::asio::steady_timer files_timer_;
  boost::asio::steady_timer state_timer_;
  boost::asio::steady_timer heartbeat_timer_;
  boost::asio::steady_timer delay_timer_;
  FileWatch watch_;

  std::vector<ListenerPlan> listeners_;
  std::optional<rules::Address> admin_address_;
  std::vector<std::unique_ptr<ServeWorker>> workers_;
  std::vector<store::Store::Health> stores_;  // of each worker, as of its last look
  std::size_t running_workers_ = 0;
  http::Admin admin_;
  std::unique_ptr<http::Server> admin_server_;
  std::unique_ptr<StoreAuditor> auditor_;  // of a shared store, unless that is off
};

}  // namespace penstock::daemon
