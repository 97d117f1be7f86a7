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
  std::string certificate_file{};  // PEM, with the key; a client certificate
  std::string key_file{};
  std::string server_name{};  // for SNI and verification; the host when empty
};

// How to reach Redis, and the timeouts of the client. Those without a value here have their default
// in RedisOptions.
struct Options {
  Url url{};
  TlsOptions tls{};
  std::string client_name = "penstock";  // CLIENT SETNAME; empty: none
  // Credentials of the sentinels, when they differ from those in the URL.
  std::string sentinel_user{};
  std::string sentinel_password{};

  std::chrono::milliseconds connect_timeout{};  // until ready for commands, handshake included
  std::chrono::milliseconds reconnect_min_pause{20};  // doubled after each failure, with jitter
  std::chrono::milliseconds reconnect_max_pause{2000};
  std::size_t max_in_flight = 0;  // commands per node

  // The breaker of a node opens after this many consecutive failures, and sends one probe after a
  // pause that doubles, with jitter.
  unsigned breaker_failures = 0;
  std::chrono::milliseconds breaker_min_pause{};
  std::chrono::milliseconds breaker_max_pause{};
  // Deadline of the probe, independent of the remaining time of any caller: a probe that inherits a
  // short remainder would fail on a healthy server.
  std::chrono::milliseconds probe_timeout{};

  // Receives connection events, never with a password. May be empty.
  std::function<void(const RedisEvent&)> on_event{};
};

}  // namespace penstock::redis
