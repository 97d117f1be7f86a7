#pragma once

#include "lease/lease_table.hpp"
#include "rules/settings/settings.hpp"
#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "store/sharded_table.hpp"
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <memory>

namespace penstock::engine {

// The number of engines that share the limits of this node: the configured one, or one per core.
[[nodiscard]] unsigned engine_count(const rules::Settings& settings);

// What the engines of a process share.
//
// Thread-safety: the members have their own.
struct EngineShared {
  // REQUIRES: metrics and log outlive it.
  EngineShared(const rules::Settings& settings, telemetry::Metrics& for_metrics,
               telemetry::Log& for_log);

  // Applies the settings that need no restart.
  void reload(const rules::Settings& settings) { members.configure(settings.nodes); }

  telemetry::Metrics& metrics;
  telemetry::Log& log;
  telemetry::HotKeyRegistry hot_keys{};
  store::ShardedTable memory;        // the memory store; with Redis, limits of this node only
  store::ShardedTable local_memory;  // of the local fallback
  service::Membership members;
  service::LocalFallback local;
  std::shared_ptr<lease::KeyVersions> versions = std::make_shared<lease::KeyVersions>();
};

}  // namespace penstock::engine
