#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "audit/redis_access.hpp"
#include "bench/admissions.hpp"
#include "bench/program/commands.hpp"
#include "bench/program/mode_arguments.hpp"
#include "bench/program/mode_load.hpp"
#include "penstock/version.hpp"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Uses leases as a worker of the daemon does, without listeners: in this process, against a "
    "real\n"
    "Redis. --hot sends this percentage of the checks to one more key. Admissions are compared "
    "with\n"
    "the maximum that the limit and the mode allow.\n"
    "\n"
    "The run uses keys that begin with bench- and a random number, and deletes them at the end. "
    "Do\n"
    "not use a server with other clients: the load is heavy.\n"
    "\n"
    "Exit codes: 0 measured, 1 too many were admitted, 2 wrong usage or invalid input, 3 the "
    "store\n"
    "is unavailable.";

struct ModesArguments {
  app::StoreArguments store;
  std::string mode = "lease_strict";
  std::string lifetime = "100ms";
  std::string limit = "1000000/s";
  std::string distribution = "uniform";
  std::string seconds = "5s";
  ModeLoad load{.quota = per_second(1)};
  bool json = false;
};

struct ModeResult {
  std::uint64_t requests = 0;
  std::uint64_t admitted = 0;
  std::uint64_t failed = 0;
  std::uint64_t max_per_key = 0;
  std::uint64_t over_admitted = 0;
};

ModeResult evaluate(const ModeLoad& load, const ModeFigures& figures) {
  const auto sum = [](const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  };
  ModeResult result{.requests = sum(figures.counts.requests),
                    .admitted = sum(figures.counts.admitted),
                    .failed = sum(figures.counts.failed)};
  result.max_per_key = max_admitted_in(load.quota, std::chrono::ceil<Duration>(figures.wall)) +
                       allowance(load.terms, load.quota);
  for (const std::uint64_t admitted : figures.counts.admitted) {
    result.over_admitted += admitted - std::min(admitted, result.max_per_key);
  }
  return result;
}

double per(double value, double divisor) { return divisor > 0 ? value / divisor : 0; }

Json report(const ModesArguments& arguments, const ModeFigures& figures, const ModeResult& result,
            std::chrono::microseconds redis_cpu) {
  const double seconds = std::chrono::duration<double>(figures.wall).count();
  const auto requests = static_cast<double>(result.requests);
  const auto micros = [](std::chrono::nanoseconds time) {
    return static_cast<double>(time.count()) / 1000;
  };
  const ModeLoad& load = arguments.load;
  Json json{{"version", kVersion},
            {"mode", core::to_string(load.terms.mode)},
            {"quota", to_string(load.quota)},
            {"keys", load.keys},
            {"distribution", to_string(load.distribution)},
            {"hot_percent", load.hot_percent},
            {"holders", load.holders},
            {"outstanding", load.outstanding},
            {"seconds", seconds},
            {"checks_per_second", requests / seconds},
            {"client_cpu_ns_per_check", per(static_cast<double>(figures.cpu.count()), requests)},
            {"redis_cpu_us_per_check", per(static_cast<double>(redis_cpu.count()), requests)},
            {"redis_calls", figures.counts.commands},
            {"redis_calls_per_second", static_cast<double>(figures.counts.commands) / seconds},
            {"redis_calls_per_check", per(static_cast<double>(figures.counts.commands), requests)},
            {"decided_by_lease", figures.counts.decided_by_lease},
            {"denial_cache_hits", figures.counts.decided_by_denial},
            {"p50_us", micros(figures.cold.percentile(0.5))},
            {"p99_us", micros(figures.cold.percentile(0.99))},
            {"admitted", result.admitted},
            {"denied", result.requests - result.admitted - result.failed},
            {"failed", result.failed},
            {"max_per_key", result.max_per_key},
            {"over_admitted", result.over_admitted}};
  if (load.hot_percent > 0) json["hot_p99_us"] = micros(figures.hot.percentile(0.99));
  if (result.failed > 0) json["first_failure"] = figures.counts.first_failure;
  return json;
}

void print(const Json& report) {
  for (const auto& [name, value] : report.items()) {
    std::string label = name;
    std::replace(label.begin(), label.end(), '_', ' ');
    std::cout << "  " << std::left << std::setw(28) << label << std::right << std::setw(22);
    if (value.is_number_float()) {
      std::cout << std::fixed << std::setprecision(3) << value.get<double>();
    } else if (value.is_string()) {
      std::cout << value.get<std::string>();
    } else {
      std::cout << value.dump();
    }
    std::cout << '\n';
  }
}

Result<void> read_modes(ModesArguments& arguments) {
  const Result<core::SharingTerms> terms = parse_terms(arguments.mode, arguments.lifetime);
  if (!terms) return terms.error();
  arguments.load.terms = *terms;
  const Result<Quota> quota = Quota::parse(arguments.limit);
  if (!quota) return Error{quota.error().code, "--limit " + quota.error().detail};
  arguments.load.quota = *quota;
  const Result<void> fits = check_mode(*terms, quota->algorithm());
  if (!fits) return fits.error();
  const auto distribution = KeyDistribution::parse(arguments.distribution);
  if (!distribution) {
    return Error{distribution.error().code, "--distribution: " + distribution.error().detail};
  }
  arguments.load.distribution = *distribution;
  const Result<Duration> time = app::parse_duration(
      "--time", arguments.seconds, std::chrono::milliseconds{100}, std::chrono::hours{1});
  if (!time) return time.error();
  arguments.load.time = *time;
  return {};
}

Result<int> run_modes(ModesArguments& arguments) {
  const Result<void> readable = read_modes(arguments);
  if (!readable) return readable.error();
  Result<RedisOptions> options = app::redis_options(arguments.store, "nothing to lease");
  if (!options) return options.error();
  options->key_prefix = audit::unique_prefix("bench");
  const auto store = audit::connect(*options);
  if (!store) return store.error();
  arguments.load.redis = *options;
  const auto before = audit::server_cpu(**store, options->timeout);
  if (!before) return before.error();
  const Result<ModeFigures> figures = run_mode_load(arguments.load);
  const auto after = audit::server_cpu(**store, options->timeout);
  const Result<std::uint64_t> cleared =
      audit::delete_keys(**store, options->key_prefix, options->timeout);
  if (!figures) return figures.error();
  if (!after) return after.error();
  if (!cleared) return cleared.error();
  const ModeResult result = evaluate(arguments.load, *figures);
  const Json json = report(arguments, *figures, result, *after - *before);
  if (arguments.json) {
    std::cout << json.dump(2) << '\n';
  } else {
    print(json);
  }
  return result.over_admitted == 0 ? app::kExitAllowed : app::kExitDenied;
}

}  // namespace

void add_modes_command(CLI::App& app, int& exit_code) {
  CLI::App* modes = app.add_subcommand("modes", "Call a Redis through leases, in this process");
  auto arguments = std::make_shared<ModesArguments>();
  ModeLoad& load = arguments->load;
  modes->add_option("--store", arguments->store.url, "The Redis to measure")
      ->required()
      ->type_name("URL");
  add_mode_options(*modes, arguments->mode, arguments->lifetime);
  modes->add_option("--limit", arguments->limit, "Limit of every key, such as 100/s")
      ->capture_default_str();
  modes->add_option("--keys", load.keys, "Number of keys")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{10'000'000}));
  modes->add_option("--distribution", arguments->distribution, "uniform, zipf:S or one")
      ->capture_default_str();
  modes->add_option("--hot", load.hot_percent, "Percentage of the checks for one hot key")
      ->capture_default_str()
      ->check(CLI::Range(0U, 99U));
  modes->add_option("--holders", load.holders, "Threads, each with its own leases")
      ->capture_default_str()
      ->check(CLI::Range(1U, 64U));
  modes->add_option("--outstanding", load.outstanding, "Checks in flight per holder")
      ->capture_default_str()
      ->check(CLI::Range(1U, 10'000U));
  modes->add_option("--time", arguments->seconds, "Duration of the run")->capture_default_str();
  modes->add_option("--seed", load.seed, "Seed of the keys drawn")->capture_default_str();
  app::add_connection_options(*modes, arguments->store);
  modes->add_flag("--json", arguments->json, "Print JSON");
  modes->footer(kFooter);
  app::on_command(*modes, exit_code, [arguments] { return run_modes(*arguments); });
}

}  // namespace penstock::bench
