#pragma once

#include "penstock/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis {

struct HostPort {
  std::string host{};
  std::uint16_t port = 6379;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

enum class Topology : std::uint8_t { Standalone, UnixSocket, Sentinel, Cluster };
enum class Transport : std::uint8_t { Plain, Tls };

// Address of a Redis deployment, with credentials:
//
//     redis://[user:password@]host[:port][/database]
//     rediss://…                                        the same over TLS
//     redis+unix://[user:password@]/path/to/socket[?db=database]
//     redis-sentinel://[user:password@]host[:port],host…/name[/database]
//     redis-cluster://[user:password@]host[:port],host…
//
// Sentinels default to port 26379, the others to 6379. Users and passwords are percent-encoded
// where needed; IPv6 addresses are in brackets.
struct Url {
  Topology topology = Topology::Standalone;
  Transport transport = Transport::Plain;
  std::vector<HostPort> hosts{};
  std::string socket_path{};
  std::string master_name{};
  std::string user{};
  std::string password{};
  std::uint32_t database = 0;

  // Errors never contain a password.
  [[nodiscard]] static Result<Url> parse(std::string_view text);
};

// For logs: the URL without the password.
[[nodiscard]] std::string to_string(const Url& url);

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
