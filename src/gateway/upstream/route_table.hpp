#pragma once

#include "rules/model/path_pattern.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// The target of a request.
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
  // REQUIRES: the settings are validated, so that all patterns are valid.
  explicit RouteTable(const rules::GatewaySettings& settings);

  // The first matching route; null for none. The host is in lower case and without port, the path
  // is normalized.
  [[nodiscard]] const Route* find(std::string_view host, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace penstock::gateway
