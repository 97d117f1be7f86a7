#pragma once

#include "rules/model/path_pattern.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// Where a request goes.
struct Route {
  std::string host;  // "api.example.com"; ".example.com" for all names below; empty for all
  rules::PathPattern path;
  bool any_path = false;
  std::size_t upstream = 0;
  std::string domain;
  std::string strip_prefix;
};

class RouteTable {
 public:
  // REQUIRES: the settings are as a configuration has them, so that all patterns are good.
  explicit RouteTable(const rules::GatewaySettings& settings);

  // The first that matches; null for none. The host is in lower case and without its port, the path
  // is normal.
  [[nodiscard]] const Route* find(std::string_view host, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace penstock::gateway
