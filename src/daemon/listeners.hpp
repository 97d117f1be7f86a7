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

// A listener that the configuration opens.
struct ListenerPlan {
  ListenerKind kind{};
  std::string scheme;  // printed at startup: "https"
  std::vector<net::Address> listen;
};

// In the order of the listeners of a worker.
[[nodiscard]] std::vector<ListenerPlan> planned_listeners(const rules::Settings& settings);

// Limits on connections per client address; all workers share them.
using AddressLimits = std::map<ListenerKind, std::shared_ptr<net::AddressLimit>>;
[[nodiscard]] AddressLimits address_limits(const rules::Settings& settings);
// For a reload.
void use_address_limits(const AddressLimits& limits, const rules::Settings& settings);

// A listener of one worker.
struct WorkerListener {
  ListenerKind kind{};
  std::unique_ptr<net::Listener> listener;
  ListenerMetrics metrics;
};

}  // namespace penstock::daemon
