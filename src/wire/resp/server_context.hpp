#pragma once

#include "net/server_state.hpp"
#include "penstock/time.hpp"
#include "resp/command_reader.hpp"
#include "service/service.hpp"
#include "wire/resp/throttle.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::wire::resp {

// Settings of a server for all its clients.
struct ServerSettings {
  penstock::resp::CommandLimits limits{};
  std::vector<std::string> passwords{};  // any of them is valid; empty: no AUTH needed
  std::string version{};                 // of the program, for HELLO and INFO
  // For limits in a command, while the store is unavailable. Empty: an error.
  std::optional<rules::OnFailure> on_failure{};
  Duration request_timeout = std::chrono::seconds{1};
  std::size_t max_in_flight = 1000;  // commands of one connection that wait for the store
};

// What the sessions of a server share. They keep it alive, but not the service, which is not called
// after the server is destroyed.
struct ServerContext : net::ServerState {
  explicit ServerContext(service::Service& rate_limits, ServerSettings server_settings = {},
                         net::Timeouts::Durations phases = {})
      : ServerState(phases), service(rate_limits), settings(std::move(server_settings)) {}

  service::Service& service;
  ServerSettings settings;
  QuotaCache quotas{};
  std::uint64_t last_client_id = 0;  // clients are numbered
  bool is_exposed = false;           // other machines can connect
};

}  // namespace penstock::wire::resp
