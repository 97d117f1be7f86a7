#include "apps/command_line/program.hpp"
#include "audit/redis_access.hpp"
#include "bench/program/figures_table.hpp"
#include "bench/program/redis_contenders.hpp"
#include "bench/program/store_bench_arguments.hpp"
#include "bench/shared_contender.hpp"
#include "penstock/version.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMinWaiting = 65'536;

using ContenderPtr = std::unique_ptr<CommandContender>;

// Null without a baseline.
Result<ContenderPtr> make_baseline(const BenchArguments& arguments, const Quota& quota,
                                   redis_store::BlockingStore& store, const std::string& prefix,
                                   Duration timeout) {
  if (arguments.baseline == "naive") {
    Result<std::unique_ptr<NaiveContender>> naive =
        NaiveContender::make(store, prefix + "n", quota, timeout);
    if (!naive) return naive.error();
    return ContenderPtr(*std::move(naive));
  }
  if (arguments.baseline == "incr") {
    auto incr = std::make_unique<IncrContender>(store, prefix + "i", timeout);
    const Result<void> made = incr->make_counters(arguments.load.keys);
    if (!made) return made.error();
    return ContenderPtr(std::move(incr));
  }
  if (arguments.baseline == "none") return ContenderPtr{};
  return Error{ErrorCode::InvalidInput, "--baseline: unknown baseline \"" + arguments.baseline +
                                            "\"; use none, naive or incr"};
}

Json figures_json(const RemoteFigures& figures) {
  Json json{{"checks_per_second", figures.checks_per_second},
            {"cpu_ns_per_check", figures.cpu_ns_per_check},
            {"redis_cpu_us_per_check", figures.redis_cpu_us_per_check},
            {"p50_us", figures.p50_us},
            {"p99_us", figures.p99_us},
            {"round_trips", figures.round_trips},
            {"round_trips_per_check", figures.round_trips_per_check},
            {"admitted", figures.admitted},
            {"denied", figures.denied},
            {"failed", figures.failed},
            {"over_admitted", figures.over_admitted ? Json(*figures.over_admitted) : Json()}};
  if (figures.failed > 0) json["first_failure"] = figures.first_failure;
  return json;
}

Json report_json(const BenchArguments& arguments, const Quota& quota, const std::string& store,
                 const RemoteBenchReport& report) {
  const Load& load = arguments.load;
  Json json{{"version", kVersion},
            {"store", store},
            {"algorithm", to_string(quota.algorithm())},
            {"quota", to_string(quota)},
            {"keys", load.keys},
            {"distribution", to_string(load.distribution)},
            {"checks", load.checks},
            {"threads", load.threads},
            {"batch", arguments.batch}};
  json.update(figures_json(report.penstock));
  if (report.baseline) {
    const RemoteFigures& theirs = *report.baseline;
    json["baseline"] = figures_json(theirs);
    json["baseline"]["name"] = arguments.baseline;
    Json& ratio = json["ratio"];
    ratio["checks_per_second"] = report.penstock.checks_per_second / theirs.checks_per_second;
    ratio["cpu_ns_per_check"] = report.penstock.cpu_ns_per_check / theirs.cpu_ns_per_check;
    ratio["redis_cpu_us_per_check"] =
        report.penstock.redis_cpu_us_per_check / theirs.redis_cpu_us_per_check;
    ratio["p50_us"] = report.penstock.p50_us / theirs.p50_us;
  }
  return json;
}

void print_failures(const char* who, const RemoteFigures& figures) {
  if (figures.failed == 0) return;
  std::cout << "\n  " << figures.failed << " checks of " << who
            << " failed, the first with: " << figures.first_failure << '\n';
}

void print_report(const BenchArguments& arguments, const Quota& quota, const std::string& store,
                  const RemoteBenchReport& report) {
  const Load& load = arguments.load;
  std::cout << to_string(quota) << " on " << store << ", " << load.keys << " keys "
            << to_string(load.distribution) << ", " << load.checks << " checks, " << load.threads
            << (load.threads == 1 ? " thread" : " threads") << ", batch " << arguments.batch
            << "\n\n";
  const BenchTable<RemoteFigures> table(report.penstock, report.baseline);
  table.head(arguments.baseline);
  table.row("thousand checks per second", &RemoteFigures::checks_per_second, 1e-3, 1);
  table.row("redis cpu us per check", &RemoteFigures::redis_cpu_us_per_check, 1, 3);
  table.row("client cpu us per check", &RemoteFigures::cpu_ns_per_check, 1e-3, 3);
  table.row("p50 us of a call", &RemoteFigures::p50_us, 1, 1);
  table.row("p99 us of a call", &RemoteFigures::p99_us, 1, 1);
  table.row("round trips", &RemoteFigures::round_trips);
  table.row("round trips per check", &RemoteFigures::round_trips_per_check, 1, 4);
  table.row("admitted", &RemoteFigures::admitted);
  table.row("denied", &RemoteFigures::denied);
  table.row("failed", &RemoteFigures::failed);
  table.row("over-admitted", &RemoteFigures::over_admitted);
  print_failures("penstock", report.penstock);
  if (report.baseline) print_failures(arguments.baseline.c_str(), *report.baseline);
}

RemoteBenchOptions bench_options(const BenchArguments& arguments, const Quota& quota) {
  RemoteBenchOptions options;
  static_cast<Load&>(options) = arguments.load;
  options.quota = quota;
  options.batch = arguments.batch;
  return options;
}

}  // namespace

Result<void> run_redis_bench(const BenchArguments& arguments, const Quota& quota) {
  Result<RedisOptions> options = app::redis_options(arguments.store, "nothing to measure");
  if (!options) return options.error();
  const std::string prefix = audit::unique_prefix("bench");
  options->key_prefix = prefix + "p";
  options->max_waiting =
      std::max(kMinWaiting, std::size_t{2} * arguments.batch * arguments.load.threads);
  const Duration timeout = options->timeout;
  const auto store = audit::connect(*options);
  if (!store) return store.error();
  const Result<ContenderPtr> baseline = make_baseline(arguments, quota, **store, prefix, timeout);
  if (!baseline) return baseline.error();
  Result<SharedLimiter> limiter = SharedLimiter::open(*options);
  if (!limiter) return limiter.error();
  SharedContender penstock(*limiter, quota);
  const Result<RemoteBenchReport> report =
      run_remote_bench(bench_options(arguments, quota),
                       {.penstock = &penstock,
                        .baseline = baseline->get(),
                        .server_cpu = [&] { return audit::server_cpu(**store, timeout); }},
                       app::draw_progress);
  const Result<std::uint64_t> cleared = audit::delete_keys(**store, prefix, timeout);
  if (!cleared) {
    std::cerr << "penstock-bench store: keys that begin with " << prefix
              << " were not deleted and will expire: " << cleared.error().detail << '\n';
  }
  if (!report) return report.error();
  const std::string shown = audit::shown_url(*options);
  if (arguments.json) {
    std::cout << report_json(arguments, quota, shown, *report).dump(2) << '\n';
  } else {
    print_report(arguments, quota, shown, *report);
  }
  return {};
}

}  // namespace penstock::bench
