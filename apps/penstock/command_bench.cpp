#include "apps/penstock/commands.hpp"
#include "bench/store_bench.hpp"
#include "penstock/version.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <iomanip>
#include <iostream>
#include <string>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMostKeys = 200'000'000;
constexpr std::uint64_t kMostChecks = 10'000'000'000;
constexpr unsigned kMostThreads = 256;
constexpr unsigned kMostInBatch = 65'536;

struct BenchArguments {
  std::string store = "memory://";
  std::string algorithm;
  std::string limit = "1000/d";
  std::optional<std::int64_t> burst;
  std::string distribution = "uniform";
  std::string baseline = "none";
  bool json = false;
  bench::StoreBenchOptions options;
};

Result<Quota> quota_of(const BenchArguments& arguments) {
  Result<QuotaSpec> spec = QuotaSpec::parse(arguments.limit);
  if (!spec) return Error{spec.error().code, "--limit " + spec.error().detail};
  if (!arguments.algorithm.empty()) {
    const Result<Algorithm> algorithm = parse_algorithm(arguments.algorithm);
    if (!algorithm) {
      return Error{algorithm.error().code, "--algorithm: " + algorithm.error().detail};
    }
    spec->algorithm = *algorithm;
  }
  if (arguments.burst) spec->capacity = arguments.burst;
  return Quota::make(*spec);
}

Json figures_json(const bench::StoreFigures& figures) {
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

Json report_json(const BenchArguments& arguments, const bench::StoreBenchReport& report) {
  const bench::StoreBenchOptions& options = arguments.options;
  Json json{{"version", kVersion},
            {"store", arguments.store},
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

class Table {
 public:
  explicit Table(const bench::StoreBenchReport& report) : report_(report) {}

  void row(const char* name, double bench::StoreFigures::*figure, double scale, int places) const {
    std::cout << "  " << std::left << std::setw(30) << name << std::right << std::fixed
              << std::setprecision(places) << std::setw(14) << report_.penstock.*figure * scale;
    if (report_.naive) {
      const double theirs = *report_.naive.*figure;
      std::cout << std::setw(14) << theirs * scale << std::setprecision(2) << std::setw(9);
      // one key is too small to be seen in resident memory
      if (theirs > 0) std::cout << report_.penstock.*figure / theirs << " x";
    }
    std::cout << '\n';
  }
  void row(const char* name, std::uint64_t bench::StoreFigures::*figure) const {
    std::cout << "  " << std::left << std::setw(30) << name << std::right << std::setw(14)
              << report_.penstock.*figure;
    if (report_.naive) std::cout << std::setw(14) << *report_.naive.*figure;
    std::cout << '\n';
  }

 private:
  const bench::StoreBenchReport& report_;
};

void print_report(const BenchArguments& arguments, const bench::StoreBenchReport& report) {
  using bench::StoreFigures;
  const bench::StoreBenchOptions& options = arguments.options;
  std::cout << to_string(options.quota) << " on " << arguments.store << ", " << options.keys
            << " keys " << to_string(options.distribution) << ", " << options.checks << " checks, "
            << options.threads << (options.threads == 1 ? " thread" : " threads") << ", batch "
            << options.batch << "\n\n"
            << "  " << std::setw(30) << std::left << "" << std::right << std::setw(14)
            << "penstock";
  if (report.naive) std::cout << std::setw(14) << "naive" << std::setw(11) << "ratio";
  std::cout << '\n';
  const Table table(report);
  table.row("million checks per second", &StoreFigures::checks_per_second, 1e-6, 2);
  table.row("cpu ns per check", &StoreFigures::cpu_ns_per_check, 1, 1);
  table.row("p50 us of a call", &StoreFigures::p50_us, 1, 3);
  table.row("p99 us of a call", &StoreFigures::p99_us, 1, 3);
  table.row("bytes per key", &StoreFigures::bytes_per_key, 1, 1);
  table.row("resident bytes per key", &StoreFigures::resident_bytes_per_key, 1, 1);
  table.row("admitted", &StoreFigures::admitted);
  table.row("denied", &StoreFigures::denied);
  table.row("over-admitted", &StoreFigures::over_admitted);
  std::cout << "\n  Keys remembered once all had been asked for: " << report.keys_remembered
            << ".\n  The load generator's own part of every check: " << std::fixed
            << std::setprecision(1) << report.generator_ns_per_check << " ns of processor time.\n";
}

void draw_progress(double share) {
  constexpr int kWidth = 40;
  if (isatty(STDERR_FILENO) == 0) return;
  const int filled = static_cast<int>(share * kWidth);
  std::cerr << '\r' << "  [" << std::string(static_cast<std::size_t>(filled), '#')
            << std::string(static_cast<std::size_t>(kWidth - filled), '.') << "] " << std::setw(3)
            << static_cast<int>(share * 100) << " %" << std::flush;
  if (share >= 1) std::cerr << "\r" << std::string(kWidth + 12, ' ') << '\r' << std::flush;
}

Result<bench::Baseline> parse_baseline(const std::string& text) {
  if (text == "none") return bench::Baseline::None;
  if (text == "naive") return bench::Baseline::Naive;
  return Error{ErrorCode::InvalidInput,
               "--baseline: unknown baseline \"" + text + "\"; use none or naive"};
}

Result<void> run(BenchArguments& arguments) {
  if (arguments.store != "memory://") {
    return Error{ErrorCode::InvalidInput,
                 "--store: unknown store \"" + arguments.store + "\"; use memory://"};
  }
  const Result<Quota> quota = quota_of(arguments);
  if (!quota) return quota.error();
  arguments.options.quota = *quota;
  const Result<bench::KeyDistribution> distribution =
      bench::KeyDistribution::parse(arguments.distribution);
  if (!distribution) {
    return Error{distribution.error().code, "--distribution: " + distribution.error().detail};
  }
  arguments.options.distribution = *distribution;
  const Result<bench::Baseline> baseline = parse_baseline(arguments.baseline);
  if (!baseline) return baseline.error();
  const bench::StoreBenchReport report =
      bench::run_store_bench(arguments.options, *baseline, draw_progress);
  if (arguments.json) {
    std::cout << report_json(arguments, report).dump(2) << '\n';
  } else {
    print_report(arguments, report);
  }
  return {};
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  CLI::App* bench =
      app.add_subcommand("bench", "Measure how fast decisions are, and that none is wrong");
  bench->require_subcommand(1);
  CLI::App* store = bench->add_subcommand("store", "Ask a store directly, in this process");
  auto arguments = std::make_shared<BenchArguments>();
  bench::StoreBenchOptions& options = arguments->options;
  store->add_option("--store", arguments->store, "Store to measure")->capture_default_str();
  store
      ->add_option("--limit", arguments->limit,
                   "Limit of every key, such as 100/s or \"1000/h burst 50\"")
      ->capture_default_str();
  store->add_option("--algorithm", arguments->algorithm,
                    "Algorithm, in place of the one in --limit");
  store->add_option("--burst", arguments->burst, "Burst of a bucket; the limit itself");
  store->add_option("--keys", options.keys, "Keys to ask about")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, kMostKeys));
  store->add_option("--distribution", arguments->distribution, "uniform, zipf:S or one")
      ->capture_default_str();
  store->add_option("--checks", options.checks, "Checks to ask, all threads together")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, kMostChecks));
  store->add_option("--threads", options.threads, "Threads that ask")
      ->capture_default_str()
      ->check(CLI::Range(1U, kMostThreads));
  store->add_option("--batch", options.batch, "Checks per call")
      ->capture_default_str()
      ->check(CLI::Range(1U, kMostInBatch));
  store->add_option("--seed", options.seed, "Seed of the keys drawn")->capture_default_str();
  store
      ->add_option("--baseline", arguments->baseline,
                   "naive: the same on a mutex and a map, in turns")
      ->capture_default_str();
  store->add_flag("--json", arguments->json, "Print JSON");
  store->callback([arguments, &exit_code] {
    const Result<void> done = run(*arguments);
    exit_code = done ? kExitAllowed : kExitBadInput;
    if (!done) std::cerr << "penstock bench store: " << done.error().detail << '\n';
  });
}

}  // namespace penstock::app
