#pragma once

#include "base/deadline.hpp"
#include "lease/lease_table.hpp"
#include "penstock/redis_options.hpp"
#include "rules/settings/settings.hpp"
#include "service/live_overrides.hpp"
#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "service/near_limits.hpp"
#include "service/rollouts.hpp"
#include "store/sharded_table.hpp"
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace penstock::engine {

// The number of engines that share the limits of this node: the configured one, or one per core.
[[nodiscard]] unsigned engine_count(const rules::Settings& settings);

// Logs the events of a store. Each engine has its own connections, and all report what happens to
// the server: a text that was logged within the last second is not logged again.
//
// Thread-safety: all members, from any thread.
class StoreEventLog {
 public:
  explicit StoreEventLog(telemetry::Log& log) : log_(log) {}

  void write(const RedisEvent& event, base::Deadline now = base::monotonic_now());

 private:
  static constexpr std::size_t kMaxTexts = 100;

  telemetry::Log& log_;
  std::mutex mutex_;
  std::map<std::string, base::Deadline, std::less<>> logged_;  // guarded by mutex_
};

// What the engines of a process share.
//
// Thread-safety: the members have their own.
struct EngineShared {
  // REQUIRES: metrics and log outlive it.
  EngineShared(const rules::Settings& settings, telemetry::Metrics& for_metrics,
               telemetry::Log& for_log);

  // New rules, before any engine uses them.
  void use(const std::shared_ptr<const rules::Ruleset>& rules) { rollouts.use(rules); }
  // Applies the settings that need no restart.
  void reload(const rules::Settings& settings) { members.configure(settings.nodes); }

  telemetry::Metrics& metrics;
  telemetry::Log& log;
  StoreEventLog store_events{log};
  telemetry::HotKeyRegistry hot_keys{};
  store::ShardedTable memory;        // the memory store; with Redis, limits of this node only
  store::ShardedTable local_memory;  // of the local fallback
  service::Membership members;
  service::LocalFallback local;
  service::LiveOverrides overrides{};
  service::Rollouts rollouts{metrics, log};
  service::SharedNearLimits near_limits{};
  std::shared_ptr<lease::KeyVersions> versions = std::make_shared<lease::KeyVersions>();
  std::vector<telemetry::Metrics::Registration> sources{};  // of the above
};

}  // namespace penstock::engine
