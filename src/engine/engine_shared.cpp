#include "engine/engine_shared.hpp"

#include "service/recorder.hpp"

#include <algorithm>
#include <thread>

namespace penstock::engine {

unsigned engine_count(const rules::Settings& settings) {
  if (settings.workers > 0) return settings.workers;
  return std::max(1U, std::thread::hardware_concurrency());
}

EngineShared::EngineShared(const rules::Settings& settings, telemetry::Metrics& for_metrics,
                           telemetry::Log& for_log)
    : metrics(for_metrics),
      log(for_log),
      memory(settings.memory),
      local_memory(settings.memory),
      members(settings.nodes),
      local(local_memory, members,
            settings.uses_memory_store() ? service::LocalFallback::Recall::Nothing
                                         : service::LocalFallback::Recall::StoreState) {
  metrics.add_source(service::memory_source(memory));
  metrics.add_source(service::membership_source(members));
  metrics.add_source(service::outage_source(local));
}

}  // namespace penstock::engine
