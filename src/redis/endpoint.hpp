#pragma once

#include "redis/url.hpp"

#include <string>

namespace penstock::redis {

// Where one server listens.
struct Endpoint {
  HostPort address{};
  std::string socket_path{};  // a Unix socket; then there is no address

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "host:port", "[::1]:port" or the path of the socket.
[[nodiscard]] std::string to_string(const HostPort& address);
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

}  // namespace penstock::redis
