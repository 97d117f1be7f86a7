#include "bench/program/verify_worker.hpp"

#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "bench/exactness.hpp"
#include "bench/program/mode_arguments.hpp"
#include "bench/program/mode_load.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <utility>

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const KeyCounts& counts) {
  std::vector<std::int64_t> demand;  // three numbers for each entry
  demand.reserve(3 * counts.demand.size());
  for (const DemandLog::Entry& entry : counts.demand) {
    demand.insert(demand.end(), {entry.step, entry.key, entry.requests});
  }
  return {{"requests", counts.requests},
          {"admitted", counts.admitted},
          {"failed", counts.failed},
          {"demand", std::move(demand)},
          {"slowest_us", counts.slowest.count()}};
}

// Like run_exactness_load(), one case after the other, by threads with leases.
Result<Json> hammer_with_leases(const VerifyArguments& arguments, const ModeLoad& load,
                                const std::vector<ExactnessCase>& cases) {
  Json json = Json::array();
  for (const ExactnessCase& each : cases) {
    ModeLoad mine = load;
    // cases must not share keys
    mine.redis.key_prefix = arguments.store.prefix + "-" + std::to_string(json.size());
    mine.quota = each.quota;
    mine.keys = each.keys;
    mine.time = std::max<decltype(mine.time)>(load.time / cases.size(), two_cycles(load.demand));
    Result<ModeFigures> figures = run_mode_load(mine);
    if (!figures) return figures.error();
    KeyCounts counts(each.keys);
    counts.requests = std::move(figures->counts.requests);
    counts.admitted = std::move(figures->counts.admitted);
    counts.failed = std::move(figures->counts.failed);
    counts.demand = std::move(figures->counts.demand);
    counts.slowest = std::chrono::ceil<Duration>(figures->cold.percentile(1));
    // the hot key, unused here
    for (auto* values : {&counts.requests, &counts.admitted, &counts.failed}) values->pop_back();
    json.push_back(counts_json(counts));
  }
  return json;
}

}  // namespace

Result<int> run_verify_worker(const VerifyArguments& arguments) {
  const Result<std::int64_t> threads =
      app::parse_number("--threads", arguments.threads, {.min = 1});
  if (!threads) return threads.error();
  const Result<std::int64_t> seconds =
      app::parse_number("--seconds", arguments.seconds, {.min = 1});
  if (!seconds) return seconds.error();
  const Result<std::int64_t> seed = app::parse_number("--seed", arguments.seed, {});
  if (!seed) return seed.error();
  const Result<Algorithm> algorithm = parse_algorithm(arguments.algorithm);
  if (!algorithm) return algorithm.error();
  const Result<RedisOptions> options = app::redis_options(arguments.store, "nothing to verify");
  if (!options) return options.error();
  const Result<core::SharingTerms> terms = parse_terms(arguments.mode, arguments.lifetime);
  if (!terms) return terms.error();
  const std::optional<Demand> demand = parse_demand(arguments.demand);
  if (!demand) return Error{ErrorCode::InvalidInput, "--demand"};
  if (terms->mode != core::Mode::Exact) {
    const Result<std::int64_t> nodes =
        app::parse_number("--nodes", arguments.processes, {.min = 1});
    if (!nodes) return nodes.error();
    const Result<Json> counted = hammer_with_leases(arguments,
                                                    {.redis = *options,
                                                     .terms = *terms,
                                                     .quota = per_second(1),
                                                     .holders = static_cast<unsigned>(*threads),
                                                     .nodes = static_cast<unsigned>(*nodes),
                                                     .time = std::chrono::seconds{*seconds},
                                                     .seed = static_cast<std::uint64_t>(*seed),
                                                     .demand = *demand,
                                                     .logs_demand = true},
                                                    exactness_cases(*algorithm));
    if (!counted) return counted.error();
    std::cout << counted->dump() << '\n';
    return app::kExitAllowed;
  }
  Result<SharedLimiter> limiter = SharedLimiter::open(*options);
  if (!limiter) return limiter.error();
  Json json = Json::array();
  for (const KeyCounts& counts : run_exactness_load(*limiter, exactness_cases(*algorithm),
                                                    {.threads = static_cast<unsigned>(*threads),
                                                    .time = std::chrono::seconds{*seconds},
                                                    .seed = static_cast<std::uint64_t>(*seed),
                                                    .demand = *demand})) {
    json.push_back(counts_json(counts));
  }
  std::cout << json.dump() << '\n';
  return app::kExitAllowed;
}

}  // namespace penstock::bench
