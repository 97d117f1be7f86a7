#pragma once

#include "redis/url.hpp"

#include <string>

namespace penstock::redis {

// Address of one server.
struct Endpoint {
  HostPort address{};
  std::string socket_path{};  // a Unix socket; the address is then unused

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "host:port", "[::1]:port" or the path of the socket.
[[nodiscard]] std::string to_string(const HostPort& address);
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

}  // namespace penstock::redis
