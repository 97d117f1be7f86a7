#pragma once

#include "daemon/admin_data.hpp"
#include "daemon/file_watch.hpp"
#include "daemon/serve_worker.hpp"
#include "daemon/store_auditor.hpp"
#include "engine/engine_shared.hpp"
#include "gateway/upstream/in_flight.hpp"
#include "penstock/result.hpp"
#include "redis_store/lease/change_feed.hpp"
#include "rules/model/configuration.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "wire/http/admin/admin.hpp"
#include "wire/http/server/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::daemon {

// Options of `penstock serve`.
struct DaemonOptions {
  std::vector<std::filesystem::path> configuration;
  // Override the configuration.
  std::vector<net::Address> listen{};
  std::optional<std::optional<net::Address>> admin{};  // no address: off
  std::optional<Duration> shutdown_delay{};
};

// The daemon: workers that serve requests, and one more event loop for everything else (signals,
// reloads, the admin port, heartbeats) on the thread that calls run().
//
// Thread-safety: none.
class Daemon {
 public:
  // Reads the configuration, starts the workers and binds all ports.
  [[nodiscard]] static Result<std::unique_ptr<Daemon>> make(DaemonOptions options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Runs until SIGTERM or SIGINT. Then reports not ready, serves for server.shutdown_delay, closes
  // the listeners and returns when the requests in flight are answered. A second signal ends the
  // delay, a third one stops at once.
  void run();

 private:
  explicit Daemon(DaemonOptions options, rules::Configuration configuration);

  [[nodiscard]] Result<void> start_workers();
  // Opens the admin port of the settings, then closes the previous one.
  [[nodiscard]] Result<void> start_admin();
  // One line per listener, with its bound ports.
  void log_listeners(const std::vector<ListenerPlan>& listeners);
  void log_start();
  void wait_for_signal();
  void on_signal(int signal);
  // Calls `what` at this interval until the stop.
  void repeat(boost::asio::steady_timer& timer, Duration every, void (Daemon::*what)());
  void watch_files();
  void poll_workers();
  // Samples the metrics soon after each second of the clock.
  void sample_each_second();
  [[nodiscard]] AdminData::Dependencies admin_dependencies();
  void send_heartbeat();
  // Subscribes to changes by other nodes and forwards them to the workers.
  void listen_for_changes();
  // Once after each outage.
  void log_outage_summary();
  // Logs once if the number of nodes is unknown and a rule needs it.
  void warn_of_unknown_nodes();
  // Errors and warnings about the configuration, one line each.
  void log(const rules::Diagnostics& diagnostics);
  void reload();
  void use(rules::Configuration configuration, FileWatch before);
  // Applies reloadable settings; logs the others.
  void use_settings(const rules::Settings& settings);
  [[nodiscard]] Result<void> reload_changes();
  // Of the reload with this number.
  void on_failed_reload(unsigned reload, const std::string& why);
  void update_configuration_metrics(bool is_good);
  void drain();
  void stop();
  void on_worker_stopped();

  DaemonOptions options_;
  rules::Configuration configuration_;
  rules::Settings configured_settings_;  // without overrides from the command line
  unsigned reloads_ = 0;
  std::uint64_t config_hash_ = 0;
  bool draining_ = false;  // reports not ready
  bool stopping_ = false;

  telemetry::Log log_;
  telemetry::Metrics metrics_;
  telemetry::WorkerMetrics& own_metrics_;  // of the thread of run()
  telemetry::Metrics::Registration process_metrics_;

  engine::EngineShared engines_;
  service::OutageLedger::Totals logged_outage_{};  // at the last log line
  SharedByWorkers shared_;
  gateway::InFlight in_flight_;  // of all workers
  std::string node_;             // the name of this node
  unsigned heartbeats_ = 0;
  std::atomic<bool> node_count_known_{false};  // set by a worker: Redis answered a heartbeat

  boost::asio::io_context loop_{1};
  std::unique_ptr<redis_store::ChangeFeed> changes_;  // with a shared store
  boost::asio::signal_set signals_;
  boost::asio::steady_timer files_timer_;
  boost::asio::steady_timer state_timer_;
  boost::asio::steady_timer sample_timer_;
  boost::asio::steady_timer heartbeat_timer_;
  boost::asio::steady_timer delay_timer_;
  FileWatch watch_;

  std::vector<std::unique_ptr<ServeWorker>> workers_;
  std::size_t running_workers_ = 0;
  AdminData admin_data_;
  http::Admin admin_;
  std::unique_ptr<http::Server> admin_server_;
  std::optional<net::Address> admin_configured_;  // of admin_server_
  std::vector<std::unique_ptr<http::Server>> stopping_admin_servers_;
  std::unique_ptr<StoreAuditor> auditor_;  // with a shared store
};

}  // namespace penstock::daemon
