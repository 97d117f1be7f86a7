#pragma once

#include "core/named_check.hpp"
#include "daemon/listeners.hpp"
#include "daemon/memory_trimmer.hpp"
#include "gateway/upstream/in_flight.hpp"
#include "lease/leasing_store.hpp"
#include "penstock/result.hpp"
#include "rules/model/configuration.hpp"
#include "service/local_fallback.hpp"
#include "service/outage_reconciler.hpp"
#include "service/recorder.hpp"
#include "service/service.hpp"
#include "store/sharded_table.hpp"
#include "store/stores.hpp"
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "wire/http/api/api.hpp"
#include "wire/http/server/server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace penstock::redis_store {
class RedisStore;
}

namespace penstock::daemon {

// The configured number, or one per core.
[[nodiscard]] unsigned worker_count(const rules::Settings& settings);

// Shared by all workers. REQUIRES: it outlives them.
struct WorkerContext {
  const rules::Settings& settings;
  store::ShardedTable& memory;  // the embedded store; with Redis, limits of this node only
  service::LocalFallback& local;
  const service::Membership& members;
  telemetry::Metrics& metrics;
  telemetry::HotKeyRegistry& hot_keys;
  telemetry::Log& log;
  gateway::InFlight& in_flight;
  AddressLimits per_address{};
  std::shared_ptr<lease::KeyVersions> versions{};  // with a shared store only
};

// The stores of a worker: all in memory, or all in Redis with leases in front of its limits.
struct WorkerStores {
  std::unique_ptr<store::LimitStore> owner;  // of all of them
  store::Stores all;
  redis_store::RedisStore* redis = nullptr;  // null in memory
  lease::LeasingStore* leasing = nullptr;    // null in memory

  [[nodiscard]] store::StoreHealth health() const;
};

// One event loop of the daemon on its own thread, with its own sockets, API, service and connection
// to the store. Workers share no lock on the request path.
//
// Thread-safety: all members are called from the thread of the daemon.
class ServeWorker {
 public:
  // `number` counts from 0. Fails for invalid settings.
  [[nodiscard]] static Result<std::unique_ptr<ServeWorker>> make(
      const WorkerContext& context, std::size_t number,
      std::shared_ptr<const rules::Ruleset> rules);
  ~ServeWorker();
  ServeWorker(const ServeWorker&) = delete;
  ServeWorker& operator=(const ServeWorker&) = delete;

  // Binds every listener and writes the bound ports into the plans. Call before start().
  [[nodiscard]] Result<void> listen(std::vector<ListenerPlan>& listeners,
                                    net::PortReuse port_reuse);
  void start();

  // The members below post to the worker; callbacks run on its thread.
  void use(std::shared_ptr<const rules::Ruleset> rules);
  // Applies all settings that need no restart.
  void reload(std::shared_ptr<const rules::Settings> settings,
              std::function<void(Result<void>)> done);
  void poll_health(std::function<void(store::StoreHealth)> seen);
  // The state of this limit changed in the store: cached state is stale.
  void invalidate(core::LimitKey name, lease::LeasingStore::Change change);
  // The state of any limit may have changed. The local fallback keeps its state if the change feed
  // was lost just now: the store may be down, and this is the last known state.
  enum class Feed : std::uint8_t { Lost, Listening };
  void invalidate_all(Feed feed);
  // Sends a heartbeat to the shared store. Does nothing with the embedded store.
  void heartbeat(std::string node, Duration lasts,
                 std::function<void(Result<std::int64_t>)> answered);
  // Calls net::Listener::drain.
  void drain();
  // Stops the listeners, returns leases, then ends the thread.
  void stop(Duration grace, std::function<void()> stopped);

 private:
  ServeWorker(const WorkerContext& context, std::size_t number,
              std::shared_ptr<const rules::Ruleset> rules);

  // In the order of planned_listeners().
  void make_listeners(const WorkerContext& context);
  [[nodiscard]] std::unique_ptr<net::Listener> make_listener(ListenerKind kind,
                                                             const WorkerContext& context,
                                                             const rules::Settings& settings);
  [[nodiscard]] Result<void> reload(const rules::Settings& settings);
  [[nodiscard]] Result<void> reload_store(const RedisOptions& options);
  void end(const std::function<void()>& stopped);
  // Once a second: publishes metrics and logs, retries, trims memory.
  void tick();

  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer tick_timer_;
  // Used by the worker thread only, after start():
  telemetry::WorkerMetrics& metrics_;
  telemetry::HotKeys hot_keys_;
  telemetry::RateLimitedLog log_;
  service::Recorder recorder_;
  WorkerStores stores_;
  service::LocalFallback& local_;
  service::OutageReconciler reconciler_;
  Duration store_timeout_;
  service::Service service_;
  http::Api api_;
  std::vector<WorkerListener> listeners_;
  std::size_t open_listeners_ = 0;
  MemoryTrimmer memory_trimmer_;
  bool sweeps_reservations_;  // true for one worker
  std::thread thread_;
};

}  // namespace penstock::daemon
