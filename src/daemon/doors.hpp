#pragma once

#include "daemon/door_metrics.hpp"
#include "net/address_limit.hpp"
#include "net/door.hpp"
#include "rules/settings/settings.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace penstock::daemon {

// A way in that the configuration opens.
struct DoorPlan {
  std::string name;    // in metrics: "http", "grpc", "resp", "gateway"
  std::string scheme;  // for people: "https"
  std::vector<rules::Address> listen;
};

// In the order in which workers have them.
[[nodiscard]] std::vector<DoorPlan> planned_doors(const rules::Settings& settings);

// Connections per client address, by the name of the door; all workers share them.
using AddressLimits = std::map<std::string, std::shared_ptr<net::AddressLimit>>;
[[nodiscard]] AddressLimits address_limits(const rules::Settings& settings);

// A door of one worker.
struct WorkerDoor {
  std::string name;
  std::unique_ptr<net::Door> door;
  DoorMetrics metrics;
};

}  // namespace penstock::daemon
