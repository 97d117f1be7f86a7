#include "daemon/listeners.hpp"

namespace penstock::daemon {

std::vector<ListenerPlan> planned_listeners(const rules::Settings& settings) {
  std::vector<ListenerPlan> listeners;
  listeners.push_back({.kind = ListenerKind::Http,
                       .scheme = settings.http.tls ? "https" : "http",
                       .listen = settings.http.listen});
  if (!settings.grpc.listen.empty()) {
    listeners.push_back({.kind = ListenerKind::Grpc,
                         .scheme = settings.grpc.tls ? "grpcs" : "grpc",
                         .listen = settings.grpc.listen});
  }
  if (!settings.resp.listen.empty()) {
    listeners.push_back({.kind = ListenerKind::Resp,
                         .scheme = settings.resp.tls ? "rediss" : "redis",
                         .listen = settings.resp.listen});
  }
  if (!settings.gateway.listen.empty()) {
    listeners.push_back({.kind = ListenerKind::Gateway,
                         .scheme = settings.gateway.tls ? "https" : "http",
                         .listen = settings.gateway.listen});
  }
  return listeners;
}

AddressLimits address_limits(const rules::Settings& settings) {
  AddressLimits limits;
  for (const ListenerPlan& listener : planned_listeners(settings)) {
    limits[listener.kind] = std::make_shared<net::AddressLimit>(
        settings.max_connections_per_address, settings.trusted_proxies);
  }
  return limits;
}

void use_address_limits(const AddressLimits& limits, const rules::Settings& settings) {
  for (const auto& [kind, limit] : limits) {
    limit->use(settings.max_connections_per_address, settings.trusted_proxies);
  }
}

}  // namespace penstock::daemon
