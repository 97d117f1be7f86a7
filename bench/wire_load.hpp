#pragma once

#include "bench/key_distribution.hpp"
#include "bench/wire_protocol.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Load over the network in any protocol, as from many independent clients.
namespace penstock::bench {

struct WireTarget {
  std::string host = "127.0.0.1";
  std::string port = "8080";
};

struct WireLoad {
  std::vector<WireTarget> targets{{}};  // connections are spread over them
  std::uint32_t keys = 1000;
  KeyDistribution distribution{};
  std::uint64_t seed = 1;
  unsigned connections = 32;
  unsigned depth = 1;  // requests in flight per connection
  // Requests per second, sent when due while connections have room. Zero: as fast as responses
  // come.
  std::uint64_t rate = 0;
  std::chrono::milliseconds time{5000};
  std::optional<int> server_pid{};  // to measure its processor time
  // The limit of every key, to count over-admission; empty if unknown.
  std::optional<Quota> quota{};
};

struct WireFigures {
  double requests_per_second = 0;
  // From the due time of a request, so that queueing counts.
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double max_us = 0;
  double client_cpu_us = 0;               // per request
  std::optional<double> server_cpu_us{};  // per request
  std::uint64_t answered = 0;
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
  std::uint64_t failed = 0;  // errors, broken connections, timeouts
  std::string first_failure{};
  std::optional<std::uint64_t> over_admitted{};
};

// Called for every connection and every reconnect.
using MakeProtocol = std::function<std::unique_ptr<WireProtocol>()>;

// Fails if a connection cannot be made at the start.
[[nodiscard]] Result<WireFigures> run_wire_load(const WireLoad& load, const MakeProtocol& protocol,
                                                const std::function<void(double)>& on_progress);

}  // namespace penstock::bench
