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
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "wire/http/api/api.hpp"
#include "wire/http/api/service_backend.hpp"
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

// As configured, or one per core.
[[nodiscard]] unsigned worker_count(const rules::Settings& settings);

// What all workers share. REQUIRES: it outlives them.
struct WorkerContext {
  const rules::Settings& settings;
  store::ShardedTable& memory;  // the embedded store; with Redis, limits of this node alone
  service::LocalFallback& local;
  const service::Membership& members;
  telemetry::Metrics& metrics;
  telemetry::HotKeyRegistry& hot_keys;
  telemetry::Log& log;
  gateway::InFlight& in_flight;
  AddressLimits per_address{};
  std::shared_ptr<lease::KeyVersions> versions{};  // of a shared store
};

// One event loop of the daemon, on a thread of its own, with all that a request meets on its way:
// sockets, API, service, and a connection to the store. Workers share no lock on that way.
//
// Thread-safety: its members are called from one thread, that of the daemon.
class ServeWorker {
 public:
  // The `number`th of them, from 0. Fails for settings that cannot work.
  [[nodiscard]] static Result<std::unique_ptr<ServeWorker>> make(
      const WorkerContext& context, std::size_t number,
      std::shared_ptr<const rules::Ruleset> rules);
  ~ServeWorker();
  ServeWorker(const ServeWorker&) = delete;
  ServeWorker& operator=(const ServeWorker&) = delete;

  // Before start(), at every listener; puts the ports that were chosen into the plans.
  [[nodiscard]] Result<void> listen(std::vector<ListenerPlan>& listeners,
                                    net::PortReuse port_reuse);
  void start();

  // Those below are done by the worker when it comes to it; answers come from its thread.
  void use(std::shared_ptr<const rules::Ruleset> rules);
  // Takes what can change while it runs: tokens, passwords and certificates.
  void reload(std::shared_ptr<const rules::Settings> settings,
              std::function<void(Result<void>)> done);
  void poll_health(std::function<void(store::Store::Health)> seen);
  // Somebody changed this count: what is remembered of it is in doubt.
  void invalidate(core::LimitKey name, lease::LeasingStore::Change change);
  // Any count may have been changed, or may be from now on without a word. What the local fallback
  // remembers is forgotten as well, unless the feed of changes was lost just now: then perhaps the
  // store is gone, and what it said until then is the last that is known.
  enum class Feed : std::uint8_t { Lost, Listening };
  void invalidate_all(Feed feed);
  // A sign of life to the shared store; nothing on an embedded one.
  void heartbeat(std::string node, Duration lasts,
                 std::function<void(Result<std::int64_t>)> answered);
  // As net::Listener::drain does.
  void drain();
  // Ends as Server::stop does, gives back what is leased, and then ends the thread.
  void stop(Duration grace, std::function<void()> stopped);

 private:
  ServeWorker(const WorkerContext& context, std::size_t number,
              std::shared_ptr<const rules::Ruleset> rules, http::ApiSettings api);

  // Opens what planned_listeners() says, in that order.
  [[nodiscard]] Result<void> make_listeners(const WorkerContext& context);
  [[nodiscard]] Result<std::unique_ptr<net::Listener>> make_listener(const ListenerPlan& plan,
                                                                     const WorkerContext& context);
  [[nodiscard]] Result<void> reload(const rules::Settings& settings);
  void end(const std::function<void()>& stopped);
  // Once a second: what has gathered becomes visible to others.
  void tick();

  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer tick_timer_;
  // Only touched by the thread, once it runs:
  telemetry::WorkerMetrics& metrics_;
  telemetry::HotKeys hot_keys_;
  telemetry::RateLimitedLog log_;
  service::Recorder recorder_;
  redis_store::RedisStore* shared_ = nullptr;  // of the store below, if it has one
  lease::LeasingStore* leasing_ = nullptr;     // the store below, if it is one
  std::unique_ptr<store::Store> store_;
  service::LocalFallback& local_;
  service::OutageReconciler reconciler_;
  service::Service service_;
  http::ServiceBackend backend_;
  http::Api api_;
  std::vector<WorkerListener> listeners_;
  std::size_t open_listeners_ = 0;
  MemoryTrimmer memory_trimmer_;
  bool sweeps_reservations_;  // gives back what reservations left: one worker does
  std::thread thread_;
};

}  // namespace penstock::daemon
