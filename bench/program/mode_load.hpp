#pragma once

#include "bench/demand.hpp"
#include "bench/key_distribution.hpp"
#include "bench/latency_histogram.hpp"
#include "core/named_check.hpp"
#include "penstock/quota.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Load on a shared store through leases, as in a worker of the daemon but without listeners.
namespace penstock::bench {

struct ModeLoad {
  RedisOptions redis{};
  core::SharingTerms terms{};
  Quota quota;
  std::uint32_t keys = 1;
  KeyDistribution distribution{};
  unsigned hot_percent = 0;   // of all checks go to one more key
  unsigned holders = 1;       // threads, each with its own leases
  unsigned nodes = 1;         // number of nodes that share the limit
  unsigned outstanding = 64;  // checks in flight per holder
  std::chrono::nanoseconds time = std::chrono::seconds{5};
  std::uint64_t seed = 1;
  Demand demand = Demand::Full;
  bool logs_demand = false;
};

// Counts of one holder, or of all.
struct ModeCounts {
  explicit ModeCounts(std::size_t keys) : requests(keys), admitted(keys), failed(keys) {}

  void add(const ModeCounts& others);

  // By key; the hot one is the last.
  std::vector<std::uint64_t> requests;
  std::vector<std::uint64_t> admitted;
  std::vector<std::uint64_t> failed;
  std::string first_failure{};
  std::uint64_t commands = 0;  // sent to Redis
  std::uint64_t decided_by_lease = 0;
  std::uint64_t decided_by_denial = 0;
  std::uint64_t leases_asked = 0;
  std::vector<DemandLog::Entry> demand{};  // if the load logs it
};

struct ModeFigures {
  ModeCounts counts;
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds cpu{};
  LatencyHistogram cold{};  // checks of all other keys
  LatencyHistogram hot{};
};

// The key with this index in `counts`.
[[nodiscard]] std::string mode_load_key(std::uint32_t number);

// REQUIRES: redis_store::client_options accepts the options.
[[nodiscard]] Result<ModeFigures> run_mode_load(const ModeLoad& load);

}  // namespace penstock::bench
