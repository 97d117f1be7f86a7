#pragma once

#include "bench/key_distribution.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// Load over HTTP, as if from many clients who do not wait for each other.
namespace penstock::bench {

struct HttpTarget {
  std::string host = "127.0.0.1";
  std::string port = "8080";
};

// What to ask of the server.
enum class HttpDoor : std::uint8_t {
  Take,         // POST /v1/take with a key and the limit
  ForwardAuth,  // GET, as a proxy asks; the key is the path
  Plain,        // GET of a path, of any server
};

struct HttpLoad {
  std::vector<HttpTarget> targets{{}};  // connections are spread over them
  HttpDoor door = HttpDoor::Take;
  std::string path{};  // of the request; the usual one of the door when empty
  Quota quota = per_second(1'000'000'000);
  std::uint32_t keys = 1000;
  KeyDistribution distribution{};
  std::uint64_t seed = 1;
  unsigned connections = 32;
  // Requests a second; they are sent when due, whether or not earlier ones were answered, as far as
  // there are connections. Zero: as fast as answers come.
  std::uint64_t rate = 0;
  std::chrono::milliseconds time{5000};
  std::optional<int> server_pid{};  // to measure what it costs
};

struct HttpFigures {
  double requests_per_second = 0;
  // From the moment that a request was due, so that waiting behind slow ones counts too.
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double max_us = 0;
  double client_cpu_us = 0;               // per request
  std::optional<double> server_cpu_us{};  // per request
  std::uint64_t answered = 0;
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;  // 429 and 403
  std::uint64_t failed = 0;  // any other status, broken connections, no answer
  std::string first_failure{};
  std::optional<std::uint64_t> over_admitted{};  // empty where the limit is not ours to know
};

// Fails when no connection can be made at all.
[[nodiscard]] Result<HttpFigures> run_http_load(const HttpLoad& load,
                                                const std::function<void(double)>& on_progress);

}  // namespace penstock::bench
