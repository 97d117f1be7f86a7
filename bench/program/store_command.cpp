#include "apps/command_line/program.hpp"
#include "bench/program/commands.hpp"
#include "bench/program/figures_table.hpp"
#include "bench/program/store_bench_arguments.hpp"
#include "bench/store_bench.hpp"
#include "penstock/version.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>
#include <string>

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMaxKeys = 200'000'000;
constexpr std::uint64_t kMaxChecks = 10'000'000'000;
constexpr unsigned kMaxThreads = 256;
constexpr unsigned kMaxBatch = 65'536;

constexpr const char* kBenchFooter =
    "Baselines: on memory://, naive is a mutex, a map and a token bucket in floating point. On a\n"
    "Redis it is a plain token bucket script, called once per check; incr is one INCR per check.\n"
    "Both use the same client, all checks of a batch in one write.\n"
    "\n"
    "On a Redis the run uses keys that begin with bench- and a random number, and deletes them at\n"
    "the end. Do not use a server with other clients: the load is heavy.\n"
    "\n"
    "Exit codes: 0 measured, 2 wrong usage or invalid input, 3 the store is unavailable.";

Json figures_json(const StoreFigures& figures) {
  return {{"checks_per_second", figures.checks_per_second},
          {"cpu_ns_per_check", figures.cpu_ns_per_check},
          {"p50_us", figures.p50_us},
          {"p99_us", figures.p99_us},
          {"admitted", figures.admitted},
          {"denied", figures.denied},
          {"over_admitted", figures.over_admitted},
          {"bytes_per_key", figures.bytes_per_key},
          {"resident_bytes_per_key", figures.resident_bytes_per_key}};
}

Json report_json(const StoreBenchOptions& options, const StoreBenchReport& report) {
  Json json{{"version", kVersion},
            {"store", app::kMemoryStore},
            {"algorithm", to_string(options.quota.algorithm())},
            {"quota", to_string(options.quota)},
            {"keys", options.keys},
            {"distribution", to_string(options.distribution)},
            {"checks", options.checks},
            {"threads", options.threads},
            {"batch", options.batch}};
  json.update(figures_json(report.penstock));
  json["keys_remembered"] = report.keys_remembered;
  json["generator_ns_per_check"] = report.generator_ns_per_check;
  if (report.naive) {
    json["baseline"] = figures_json(*report.naive);
    json["baseline"]["name"] = "naive";
    json["ratio"] = {
        {"checks_per_second", report.penstock.checks_per_second / report.naive->checks_per_second},
        {"cpu_ns_per_check", report.penstock.cpu_ns_per_check / report.naive->cpu_ns_per_check},
        {"resident_bytes_per_key",
         report.penstock.resident_bytes_per_key / report.naive->resident_bytes_per_key}};
  }
  return json;
}

void print_report(const StoreBenchOptions& options, const StoreBenchReport& report) {
  std::cout << to_string(options.quota) << " on " << app::kMemoryStore << ", " << options.keys
            << " keys " << to_string(options.distribution) << ", " << options.checks << " checks, "
            << options.threads << (options.threads == 1 ? " thread" : " threads") << ", batch "
            << options.batch << "\n\n";
  const BenchTable<StoreFigures> table(report.penstock, report.naive);
  table.head("naive");
  table.row("million checks per second", &StoreFigures::checks_per_second, 1e-6, 2);
  table.row("cpu ns per check", &StoreFigures::cpu_ns_per_check, 1, 1);
  table.row("p50 us of a call", &StoreFigures::p50_us, 1, 3);
  table.row("p99 us of a call", &StoreFigures::p99_us, 1, 3);
  table.row("bytes per key", &StoreFigures::bytes_per_key, 1, 1);
  table.row("resident bytes per key", &StoreFigures::resident_bytes_per_key, 1, 1);
  table.row("admitted", &StoreFigures::admitted);
  table.row("denied", &StoreFigures::denied);
  table.row("over-admitted", &StoreFigures::over_admitted);
  std::cout << "\n  Keys in the store after all were checked once: " << report.keys_remembered
            << ".\n  Load generator: " << std::fixed << std::setprecision(1)
            << report.generator_ns_per_check << " ns of processor time per check.\n";
}

Result<Baseline> parse_baseline(const std::string& text) {
  if (text == "none") return Baseline::None;
  if (text == "naive") return Baseline::Naive;
  return Error{ErrorCode::InvalidInput,
               "--baseline: unknown baseline \"" + text + "\"; use none or naive"};
}

Result<void> run_memory_bench(const BenchArguments& arguments, const Quota& quota) {
  const Result<Baseline> baseline = parse_baseline(arguments.baseline);
  if (!baseline) return baseline.error();
  StoreBenchOptions options;
  static_cast<Load&>(options) = arguments.load;
  options.quota = quota;
  options.batch = arguments.batch;
  const StoreBenchReport report = run_store_bench(options, *baseline, app::draw_progress);
  if (arguments.json) {
    std::cout << report_json(options, report).dump(2) << '\n';
  } else {
    print_report(options, report);
  }
  return {};
}

Result<void> run_store(BenchArguments& arguments) {
  const Result<Quota> quota = app::read_quota(arguments.limit);
  if (!quota) return quota.error();
  const Result<KeyDistribution> distribution = KeyDistribution::parse(arguments.distribution);
  if (!distribution) {
    return Error{distribution.error().code, "--distribution: " + distribution.error().detail};
  }
  arguments.load.distribution = *distribution;
  return arguments.store.is_memory() ? run_memory_bench(arguments, *quota)
                                     : run_redis_bench(arguments, *quota);
}

}  // namespace

void add_store_command(CLI::App& app, int& exit_code) {
  CLI::App* store = app.add_subcommand("store", "Call a store directly, in this process");
  auto arguments = std::make_shared<BenchArguments>();
  Load& load = arguments->load;
  // Not from the environment: the server to load must be named.
  store->add_option("--store", arguments->store.url, "Store to measure, memory:// or a Redis")
      ->capture_default_str()
      ->type_name("URL");
  app::add_limit_options(*store, arguments->limit);
  store->get_option("--limit")->required(false)->capture_default_str();
  store->add_option("--keys", load.keys, "Number of keys")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, kMaxKeys));
  store->add_option("--distribution", arguments->distribution, "uniform, zipf:S or one")
      ->capture_default_str();
  store->add_option("--checks", load.checks, "Checks of all threads")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, kMaxChecks));
  store->add_option("--threads", load.threads, "Threads")
      ->capture_default_str()
      ->check(CLI::Range(1U, kMaxThreads));
  store->add_option("--batch", arguments->batch, "Checks per call")
      ->capture_default_str()
      ->check(CLI::Range(1U, kMaxBatch));
  store->add_option("--seed", load.seed, "Seed of the keys drawn")->capture_default_str();
  store
      ->add_option("--baseline", arguments->baseline,
                   "none, naive, or (on a Redis) incr; alternates with Penstock")
      ->capture_default_str();
  app::add_connection_options(*store, arguments->store);
  store->add_flag("--json", arguments->json, "Print JSON");
  store->footer(kBenchFooter);
  app::on_command(*store, exit_code, [arguments] { return run_store(*arguments); });
}

}  // namespace penstock::bench
