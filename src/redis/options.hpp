#pragma once

#include "penstock/redis_options.hpp"
#include "redis/url.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace penstock::redis {

struct TlsOptions {
  std::string ca_file{};           // PEM; the system's certificates when empty
  std::string certificate_file{};  // PEM, with the key: for servers that ask clients for one
  std::string key_file{};
  std::string server_name{};  // to ask for (SNI) and to expect; the host when empty
};

// How to reach a Redis, and how patient to be with it.
struct Options {
  Url url{};
  TlsOptions tls{};
  std::string client_name = "penstock";  // CLIENT SETNAME; empty: none
  // Of the sentinels themselves, when it differs from the one in the URL.
  std::string sentinel_user{};
  std::string sentinel_password{};

  std::chrono::milliseconds connect_timeout{1000};  // until ready for commands, handshake included
  std::chrono::milliseconds reconnect_min_pause{20};  // doubled after each failure, with jitter
  std::chrono::milliseconds reconnect_max_pause{2000};
  std::size_t max_in_flight = 4096;  // commands waiting, per node

  // The breaker of a node opens after so many failures in a row, and lets one call through after a
  // pause that doubles, with jitter.
  unsigned breaker_failures = 5;
  std::chrono::milliseconds breaker_min_pause{50};
  std::chrono::milliseconds breaker_max_pause{2000};
  // How long that call may take. As long as callers wait: what is left of one's time says nothing
  // about the server.
  std::chrono::milliseconds probe_timeout{100};

  std::function<void(const RedisEvent&)> on_event{};  // may be empty
};

}  // namespace penstock::redis
