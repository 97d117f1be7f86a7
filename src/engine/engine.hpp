#pragma once

#include "core/named_check.hpp"
#include "engine/engine_shared.hpp"
#include "lease/leasing_store.hpp"
#include "penstock/result.hpp"
#include "redis_store/redis_clock.hpp"
#include "rules/model/ruleset.hpp"
#include "rules/settings/settings.hpp"
#include "service/outage_reconciler.hpp"
#include "service/recorder.hpp"
#include "service/service.hpp"
#include "store/stores.hpp"
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace penstock::redis_store {
class RedisStore;
}

namespace penstock::engine {

// What one event loop needs to decide requests, without listeners: rules, service, stores, leases,
// local fallback. The program owns the event loop and calls tick() about once a second.
//
// Thread-safety: none; everything runs on the executor, which must not run it in two threads at
// once. Several engines, each on its own event loop, share an EngineShared.
class Engine {
 public:
  // `number` counts the engines of a process from 0. Fails for invalid settings. REQUIRES: `shared`
  // outlives the engine.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> make(
      const boost::asio::any_io_executor& executor, EngineShared& shared,
      const rules::Settings& settings, std::size_t number,
      std::shared_ptr<const rules::Ruleset> rules);
  ~Engine() { close(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Connects to the shared store, if there is one.
  void start();

  [[nodiscard]] service::Service& service() noexcept { return service_; }
  // For the program's own metrics and log lines of this event loop.
  [[nodiscard]] telemetry::WorkerMetrics& metrics() noexcept { return metrics_; }
  [[nodiscard]] telemetry::RateLimitedLog& log() noexcept { return log_; }

  // Requests in flight keep the rules that they started with. REQUIRES: EngineShared::use() was
  // called with them; make() does it.
  void use(std::shared_ptr<const rules::Ruleset> rules) { service_.use(std::move(rules)); }
  // Applies the settings of the store that need no restart. On an error nothing changes.
  [[nodiscard]] Result<void> reload(const rules::Settings& settings);

  // Publishes metrics, retries and sweeps reservations, reads overrides, reports to the store after
  // an outage.
  void tick();
  [[nodiscard]] store::StoreHealth health() const;
  // Sends a heartbeat to the shared store; zero removes the node. Does nothing in memory.
  void heartbeat(const std::string& node, Duration lasts, const store::NodeReport& report,
                 std::function<void(Result<store::FleetState>)> answered);
  // What the nodes published with their heartbeats. Does nothing in memory.
  void read_fleet(store::FleetPart part, std::function<void(Result<store::FleetReports>)> answered);

  // The overrides changed in the store, or may have: reads them, for all engines. One read is in
  // flight at a time.
  void refresh_overrides();
  // The state of this limit changed in the store: cached state is stale.
  void invalidate(const core::LimitKey& name, lease::LeasingStore::Change change);
  // The state of any limit may have changed. The local fallback keeps its state if the change feed
  // was lost just now: the store may be down, and this is the last known state.
  enum class Feed : std::uint8_t { Lost, Listening };
  void invalidate_all(Feed feed);

  // Returns leases; then calls `done`. No request may follow.
  void shutdown(const std::function<void()>& done);
  // Answers pending requests, while their callers exist.
  void close() {
    stores_.redis = nullptr;
    stores_.leasing = nullptr;
    stores_.owner.reset();
  }

 private:
  // All in memory, or all in Redis with leases in front of its limits.
  struct EngineStores {
    std::unique_ptr<store::LimitStore> owner;  // of all of them
    store::Stores all;
    redis_store::RedisStore* redis = nullptr;  // null in memory
    lease::LeasingStore* leasing = nullptr;    // null in memory
  };
  static EngineStores make_stores(const boost::asio::any_io_executor& executor,
                                  EngineShared& shared, const rules::Settings& settings);
  void log_overrides_problem(const Result<void>& read);
  // By which the store decides.
  [[nodiscard]] const Clock* clock_of(const rules::Settings& settings) const;

  Engine(const boost::asio::any_io_executor& executor, EngineShared& shared,
         const rules::Settings& settings, std::size_t number,
         std::shared_ptr<const rules::Ruleset> rules);

  telemetry::WorkerMetrics& metrics_;
  telemetry::HotKeys hot_keys_;
  telemetry::RateLimitedLog log_;
  service::NearLimits near_limits_;
  service::Recorder recorder_;
  redis_store::RedisClock redis_clock_;
  EngineStores stores_;
  service::LocalFallback& local_;
  service::Rollouts& rollouts_;
  service::OutageReconciler reconciler_;
  Duration store_timeout_;
  service::Service service_;
  bool is_first_;  // does what is done once per process
  enum class OverridesRead : std::uint8_t { None, InFlight, Repeat };
  OverridesRead overrides_read_ = OverridesRead::None;
  std::string overrides_problem_{};  // why they could not be read, as logged
};

}  // namespace penstock::engine
