#pragma once

#include "daemon/listener_metrics.hpp"
#include "net/address_limit.hpp"
#include "net/listener_base.hpp"
#include "rules/settings/settings.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace penstock::daemon {

// A way in that the configuration opens.
struct ListenerPlan {
  std::string name;    // in metrics: "http", "grpc", "resp", "gateway"
  std::string scheme;  // for people: "https"
  std::vector<rules::Address> listen;
};

// In the order of the listeners of a worker.
[[nodiscard]] std::vector<ListenerPlan> planned_listeners(const rules::Settings& settings);

// Connections per client address, by the name of the listener; all workers share them.
using AddressLimits = std::map<std::string, std::shared_ptr<net::AddressLimit>>;
[[nodiscard]] AddressLimits address_limits(const rules::Settings& settings);

// A listener of one worker.
struct WorkerListener {
  std::string name;
  std::unique_ptr<net::Listener> listener;
  ListenerMetrics metrics;
};

}  // namespace penstock::daemon
