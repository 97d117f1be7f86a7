#pragma once

#include "bench/demand.hpp"
#include "bench/key_distribution.hpp"
#include "bench/latency_histogram.hpp"
#include "core/sharing_terms.hpp"
#include "penstock/quota.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Load on a shared store through leases, as a worker of the daemon has them: in this process, so
// that nothing else is measured.
namespace penstock::bench {

struct ModeLoad {
  RedisOptions redis{};
  core::SharingTerms terms{};
  Quota quota;
  std::uint32_t keys = 1;
  KeyDistribution distribution{};
  unsigned hot_percent = 0;   // of all checks ask about one more key, which is hot
  unsigned holders = 1;       // threads, each with leases of its own
  unsigned nodes = 1;         // that the holders believe to share the limit with
  unsigned outstanding = 64;  // checks of one holder that may wait for the store
  std::chrono::nanoseconds time = std::chrono::seconds{5};
  std::uint64_t seed = 1;
  Demand demand = Demand::Full;
  bool logs_demand = false;
};

// What one holder did, or all of them together.
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
  LatencyHistogram cold{};  // of checks that asked about other keys than the hot one
  LatencyHistogram hot{};
};

// The key of this number: what `counts` are of.
[[nodiscard]] std::string mode_load_key(std::uint32_t number);

// REQUIRES: the options work (redis_store::client_options).
[[nodiscard]] Result<ModeFigures> run_mode_load(const ModeLoad& load);

}  // namespace penstock::bench
