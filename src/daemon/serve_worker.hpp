#pragma once

#include "core/named_check.hpp"
#include "daemon/listeners.hpp"
#include "daemon/memory_trimmer.hpp"
#include "engine/engine.hpp"
#include "engine/engine_shared.hpp"
#include "gateway/upstream/in_flight.hpp"
#include "penstock/result.hpp"
#include "rules/model/configuration.hpp"
#include "wire/http/api/api.hpp"
#include "wire/http/server/server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace penstock::daemon {

// Shared by all workers. REQUIRES: it outlives them.
struct WorkerContext {
  const rules::Settings& settings;
  engine::EngineShared& engines;
  gateway::InFlight& in_flight;
  SharedByWorkers shared{};
};

// One event loop of the daemon on its own thread: an engine that decides, and listeners. Workers
// share no lock on the request path.
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
  // As those of the engine.
  void invalidate(core::LimitKey name, lease::LeasingStore::Change change);
  void invalidate_all(engine::Engine::Feed feed);
  void refresh_overrides();
  // Sends a heartbeat to the shared store. Does nothing with the memory store.
  void heartbeat(std::string node, Duration lasts, store::NodeReport report,
                 std::function<void(Result<store::FleetState>)> answered);
  // As that of the engine.
  void read_fleet(store::FleetPart part, std::function<void(Result<store::FleetReports>)> answered);
  // Hands a request to the HTTP API of this worker.
  void call_api(std::shared_ptr<const http::Request> request, http::Handler::Respond respond);
  // Calls net::Listener::drain.
  void drain();
  // Stops the listeners, returns leases, then ends the thread.
  void stop(Duration grace, std::function<void()> stopped);

 private:
  ServeWorker() : work_(boost::asio::make_work_guard(loop_)), tick_timer_(loop_) {}

  // In the order of planned_listeners().
  void make_listeners(const WorkerContext& context);
  [[nodiscard]] std::unique_ptr<net::Listener> make_listener(ListenerKind kind,
                                                             const WorkerContext& context,
                                                             const rules::Settings& settings);
  [[nodiscard]] Result<void> reload(const rules::Settings& settings);
  void end(const std::function<void()>& stopped);
  // Once a second: publishes metrics and logs, retries, trims memory.
  void tick();

  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer tick_timer_;
  // Used by the worker thread only, after start():
  std::unique_ptr<engine::Engine> engine_;
  std::optional<http::Api> api_;
  std::vector<WorkerListener> listeners_;
  std::size_t open_listeners_ = 0;
  MemoryTrimmer memory_trimmer_;
  std::thread thread_;
};

}  // namespace penstock::daemon
