#pragma once

#include "apps/penstock/door_metrics.hpp"
#include "net/door.hpp"
#include "rules/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::app {

// A way in that the configuration opens.
struct DoorPlan {
  std::string name;    // in metrics: "http", "grpc", "resp", "gateway"
  std::string scheme;  // for people: "https"
  std::vector<rules::Address> listen;
};

// In the order in which workers have them.
[[nodiscard]] std::vector<DoorPlan> planned_doors(const rules::Settings& settings);

// A door of one worker.
struct WorkerDoor {
  std::string name;
  std::unique_ptr<net::Door> door;
  DoorMetrics metrics;
};

}  // namespace penstock::app
