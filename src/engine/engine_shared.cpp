#include "engine/engine_shared.hpp"

#include "service/recorder.hpp"

#include <algorithm>
#include <thread>

namespace penstock::engine {

unsigned engine_count(const rules::Settings& settings) {
  if (settings.workers > 0) return settings.workers;
  return std::max(1U, std::thread::hardware_concurrency());
}

void StoreEventLog::write(const RedisEvent& event, base::Deadline now) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = logged_.find(event.text);
    if (known != logged_.end() && now - known->second < std::chrono::seconds{1}) return;
    if (logged_.size() >= kMaxTexts) logged_.clear();
    logged_.insert_or_assign(std::string(event.text), now);
  }
  log_.write(event.is_failure() ? telemetry::LogLevel::Warning : telemetry::LogLevel::Info, "store",
             {{"event", event.text}});
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
  for (const auto& source : {service::memory_source(memory), service::membership_source(members),
                             service::outage_source(local), service::override_source(overrides)}) {
    sources.push_back(metrics.add_source(source));
  }
}

}  // namespace penstock::engine
