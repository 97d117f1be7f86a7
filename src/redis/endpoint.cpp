#include "redis/endpoint.hpp"

namespace penstock::redis {

std::string to_string(const HostPort& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string to_string(const Endpoint& endpoint) {
  return endpoint.socket_path.empty() ? to_string(endpoint.address) : endpoint.socket_path;
}

}  // namespace penstock::redis
