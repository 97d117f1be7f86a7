#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "audit/redis_access.hpp"
#include "bench/demand.hpp"
#include "bench/exactness.hpp"
#include "bench/program/mode_arguments.hpp"
#include "bench/program/verify_worker.hpp"
#include "bench/program/worker_process.hpp"
#include "core/any_state.hpp"
#include "redis_store/script_calls.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

const std::string kVerifyFooter =
    std::string(app::kStoreHelp) +
    "\n\n"
    "For every algorithm, several processes with several threads check one key and 1000 keys, "
    "under\n"
    "quotas that refill during the run and quotas that do not. Admissions are compared with the\n"
    "maximum that the quota allows in the elapsed time on Redis' clock, and with the minimum. The\n"
    "keys begin with verify- and a random number, and are deleted at the end. The load is heavy,\n"
    "for --seconds per algorithm.\n"
    "\n"
    "With --mode, every thread holds leases as a worker of the daemon does; with --mode local,\n"
    "every process is a node with its own usage. The maximum is then that of the mode.\n"
    "\n"
    "Too few: the requests of a run are replayed on an exact limiter, which would admit "
    "'expected'.\n"
    "exact and local must admit 100 % of it, lease_strict 99 %, lease and adaptive 97 %, except "
    "for\n"
    "what refills within the slowest call. --demand chooses when requests are sent: full is\n"
    "continuous, steady is one batch per thread every 5 ms, bursty is 20 ms of every 100 ms, idle\n"
    "is 50 ms of every 600 ms, which lets leases expire unused.\n"
    "\n"
    "Examples:\n"
    "  penstock verify --store redis://127.0.0.1:6379\n"
    "  penstock verify --store redis://127.0.0.1:6379 --mode lease_strict --algorithm gcra\n"
    "\n"
    "Exit codes: 0 verified, 1 too many or too few were admitted or a key never expires, 2 wrong\n"
    "usage or invalid input, 3 the store is unavailable.";

struct Row {
  Algorithm algorithm{};
  ExactnessCase which;
  ExactnessResult exactness;
};

struct Verified {
  std::vector<Row> rows{};
  std::uint64_t without_ttl = 0;

  [[nodiscard]] bool is_exact() const {
    return without_ttl == 0 && std::all_of(rows.begin(), rows.end(),
                                           [](const Row& row) { return row.exactness.is_exact(); });
  }
};

Result<std::vector<Algorithm>> algorithms_of(const VerifyArguments& arguments) {
  const Result<core::SharingTerms> terms = parse_terms(arguments.mode, arguments.lifetime);
  if (!terms) return terms.error();
  if (arguments.algorithm != "all") {
    const Result<Algorithm> algorithm = parse_algorithm(arguments.algorithm);
    if (!algorithm) {
      return Error{algorithm.error().code, "--algorithm: " + algorithm.error().detail};
    }
    const Result<void> fits = check_mode(*terms, *algorithm);
    if (!fits) return fits.error();
    return std::vector{*algorithm};
  }
  std::vector<Algorithm> algorithms;
  for (const Algorithm algorithm : core::kAlgorithms) {
    if (check_mode(*terms, algorithm)) algorithms.push_back(algorithm);
  }
  return algorithms;
}

// Of the admissions of an exact limiter.
unsigned least_percent(core::Mode mode) {
  switch (mode) {
    case core::Mode::LeaseStrict: return 99;
    case core::Mode::Lease:
    case core::Mode::Adaptive: return 97;
    case core::Mode::Exact:
    case core::Mode::Local: break;
  }
  return 100;
}

Result<std::vector<KeyCounts>> read_counts(const std::string& text,
                                           const std::vector<ExactnessCase>& cases) {
  const Error malformed{ErrorCode::Protocol, "a worker printed malformed counts"};
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array() || json.size() != cases.size()) return malformed;
  std::vector<KeyCounts> all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    KeyCounts& counts = all.emplace_back(cases[i].keys);
    for (const auto& [name, values] :
         {std::pair{"requests", &counts.requests}, std::pair{"admitted", &counts.admitted},
          std::pair{"failed", &counts.failed}}) {
      if (!json[i].contains(name) || json[i][name].size() != cases[i].keys) return malformed;
      *values = json[i][name].get<std::vector<std::uint64_t>>();
    }
    if (!json[i].contains("demand") || !json[i].contains("slowest_us")) return malformed;
    counts.slowest = Duration{json[i]["slowest_us"].get<std::int64_t>()};
    const auto demand = json[i]["demand"].get<std::vector<std::int64_t>>();
    for (std::size_t at = 0; at + 2 < demand.size(); at += 3) {
      counts.demand.push_back({.step = demand[at],
                               .key = static_cast<std::uint32_t>(demand[at + 1]),
                               .requests = static_cast<std::uint32_t>(demand[at + 2])});
    }
  }
  return all;
}

// The earliest and the latest clock of all servers.
struct ServerTimes {
  Instant earliest{};
  Instant latest{};
};

Result<ServerTimes> server_times(redis_store::BlockingStore& store, Duration timeout) {
  std::vector<redis::Command> commands;
  for (const redis::NodeId node : store.masters()) {
    commands.push_back(redis_store::command_for_node(node, {"TIME"}));
  }
  const Result<std::vector<resp::Value>> replies =
      audit::execute_all(store, std::move(commands), timeout);
  if (!replies) return replies.error();
  ServerTimes times{.earliest = Instant::max(), .latest = Instant::min()};
  for (const resp::Value& reply : *replies) {
    const std::optional<Instant> time = audit::instant_of(reply);
    if (!time) return Error{ErrorCode::Protocol, "malformed reply to TIME"};
    times.earliest = std::min(times.earliest, *time);
    times.latest = std::max(times.latest, *time);
  }
  return times;
}

// The clock of the store against the steady clock.
struct StoreClock {
  ServerTimes times{};
  Instant steady_zero{};
  Duration uncertainty{};
};

// A server read its clock between request and reply: on a busy machine tens of milliseconds. The
// fastest of a few calls narrows that down.
Result<StoreClock> read_store_clock(redis_store::BlockingStore& store, Duration timeout) {
  constexpr int kCalls = 5;
  StoreClock best{.uncertainty = Duration::max()};
  for (int i = 0; i < kCalls; ++i) {
    const SteadyTime asked = steady_now();
    const Result<ServerTimes> times = server_times(store, timeout);
    if (!times) return times.error();
    const auto half = std::chrono::ceil<Duration>(steady_now() - asked) / 2;
    const Duration uncertainty = half + (times->latest - times->earliest);
    if (uncertainty >= best.uncertainty) continue;
    const auto middle = std::chrono::duration_cast<Duration>(asked.time_since_epoch()) + half;
    best = {.times = *times, .steady_zero = times->earliest - middle, .uncertainty = uncertainty};
  }
  return best;
}

class Verifier {
 public:
  Verifier(const VerifyArguments& arguments, const RedisOptions& options,
           redis_store::BlockingStore& store, std::int64_t processes)
      : arguments_(arguments), options_(options), store_(store), processes_(processes) {}

  Result<void> run(Algorithm algorithm, Verified& outcome) {
    std::vector<ExactnessCase> cases = exactness_cases(algorithm);
    std::vector<KeyCounts> sums;
    sums.reserve(cases.size());
    for (const ExactnessCase& each : cases) sums.emplace_back(shares_keys() ? each.keys : 0);
    const Result<StoreClock> before = read_store_clock(store_, options_.timeout);
    if (!before) return before.error();
    const Result<void> requests = run_workers(algorithm, cases, sums);
    if (!requests) return requests.error();
    const Result<ServerTimes> after = server_times(store_, options_.timeout);
    if (!after) return after.error();
    const TimeSpan span{.begin = before->times.earliest,
                        .end = after->latest,
                        .steady_zero = before->steady_zero,
                        .uncertainty = before->uncertainty};
    for (std::size_t i = 0; i < cases.size(); ++i) {
      cases[i].keys = static_cast<std::uint32_t>(sums[i].requests.size());
      const ExactnessResult exactness =
          evaluate(cases[i], sums[i], span, guarantee_for(cases[i].quota));
      if (exactness.failed == exactness.requests) {
        return Error{ErrorCode::Unavailable, "all calls of the workers failed"};
      }
      outcome.rows.push_back({algorithm, cases[i], exactness});
    }
    return {};
  }

  Result<std::uint64_t> count_without_ttl() {
    std::uint64_t found = 0;
    for (const redis::NodeId node : store_.masters()) {
      const Result<void> walked = audit::scan(
          store_, {.node = node, .prefix = options_.key_prefix}, options_.timeout,
          [&](std::span<const std::string> keys) -> Result<void> {
            std::vector<redis::Command> commands;
            for (const std::string& key : keys) {
              commands.push_back(redis_store::command_for_node(node, {"PTTL", key}));
            }
            const auto replies = audit::execute_all(store_, std::move(commands), options_.timeout);
            if (!replies) return replies.error();
            for (const resp::Value& reply : *replies) found += reply.integer == -1 ? 1 : 0;
            return {};
          });
      if (!walked) return walked.error();
    }
    return found;
  }

 private:
  [[nodiscard]] core::SharingTerms terms() const {
    return *parse_terms(arguments_.mode, arguments_.lifetime);
  }
  // In local mode every process has its own keys.
  [[nodiscard]] bool shares_keys() const { return terms().mode != core::Mode::Local; }
  [[nodiscard]] Guarantee guarantee_for(const Quota& quota) const {
    return {.beyond = allowance(terms(), quota), .percent_that_fits = least_percent(terms().mode)};
  }

  Result<void> run_workers(Algorithm algorithm, const std::vector<ExactnessCase>& cases,
                           std::vector<KeyCounts>& sums) {
    std::vector<WorkerProcess> workers;
    for (std::int64_t i = 0; i < processes_; ++i) {
      Result<WorkerProcess> worker =
          WorkerProcess::start(worker_arguments(algorithm, i),
                               std::string(app::kStoreVariable) + "=" + arguments_.store.url);
      if (!worker) return worker.error();
      workers.push_back(*std::move(worker));
    }
    for (WorkerProcess& worker : workers) {
      const Result<std::string> printed = worker.wait();
      if (!printed) return printed.error();
      const Result<std::vector<KeyCounts>> counts = read_counts(*printed, cases);
      if (!counts) return counts.error();
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (shares_keys()) {
          sums[i].add((*counts)[i]);
        } else {
          sums[i].append((*counts)[i]);
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string> worker_arguments(Algorithm algorithm,
                                                          std::int64_t number) const {
    std::vector<std::string> arguments{
        kVerifyWorker,
        "--prefix",
        options_.key_prefix + "-" + std::string(to_string(algorithm)),
        "--timeout",
        arguments_.store.timeout,
        "--threads",
        arguments_.threads,
        "--seconds",
        arguments_.seconds,
        "--algorithm",
        std::string(to_string(algorithm)),
        "--seed",
        std::to_string(number * 1'000'000),
        "--mode",
        arguments_.mode,
        "--lease-lifetime",
        arguments_.lifetime,
        "--demand",
        arguments_.demand,
        "--nodes",
        std::to_string(processes_)};
    for (const auto& [option, file] : {std::pair{"--ca", &arguments_.store.ca},
                                       std::pair{"--cert", &arguments_.store.certificate},
                                       std::pair{"--key", &arguments_.store.key}}) {
      if (file->empty()) continue;
      arguments.emplace_back(option);
      arguments.push_back(*file);
    }
    return arguments;
  }

  const VerifyArguments& arguments_;
  const RedisOptions& options_;
  redis_store::BlockingStore& store_;
  std::int64_t processes_;
};

Json outcome_json(const Verified& outcome, const std::string& store) {
  Json json{
      {"store", store}, {"exact", outcome.is_exact()}, {"keys_without_ttl", outcome.without_ttl}};
  json["cases"] = Json::array();
  for (const Row& row : outcome.rows) {
    json["cases"].push_back({{"algorithm", to_string(row.algorithm)},
                             {"case", row.which.name},
                             {"requests", row.exactness.requests},
                             {"admitted", row.exactness.admitted},
                             {"max_admitted", row.exactness.max_admitted},
                             {"expected", row.exactness.expected},
                             {"utilisation", row.exactness.utilisation()},
                             {"over_admitted", row.exactness.over_admitted},
                             {"under_admitted", row.exactness.under_admitted},
                             {"failed", row.exactness.failed}});
  }
  return json;
}

void print_outcome(const Verified& outcome) {
  const app::Colour colour = app::colour_of(STDOUT_FILENO);
  std::cout << std::left << std::setw(17) << "algorithm" << std::setw(23) << "case" << std::right
            << std::setw(11) << "requests" << std::setw(11) << "admitted" << std::setw(11)
            << "at most" << std::setw(11) << "expected" << std::setw(8) << "%" << std::setw(9)
            << "too many" << std::setw(9) << "too few" << std::setw(8) << "failed" << '\n';
  for (const Row& row : outcome.rows) {
    std::cout << std::left << std::setw(17) << to_string(row.algorithm) << std::setw(23)
              << row.which.name << std::right << std::setw(11) << row.exactness.requests
              << std::setw(11) << row.exactness.admitted << std::setw(11)
              << row.exactness.max_admitted << std::setw(11) << row.exactness.expected
              << std::setw(8) << std::fixed << std::setprecision(1)
              << 100 * row.exactness.utilisation() << std::setw(9) << row.exactness.over_admitted
              << std::setw(9) << row.exactness.under_admitted << std::setw(8)
              << row.exactness.failed << '\n';
  }
  std::cout << "\nKeys that never expire: " << outcome.without_ttl << ".\n"
            << (outcome.is_exact() ? app::mark("Verified.", app::Style::Good, colour)
                                   : app::mark("Not verified.", app::Style::Bad, colour))
            << '\n';
}

Result<Verified> run_all(Verifier& verifier, const std::vector<Algorithm>& algorithms) {
  Verified outcome;
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    app::draw_progress(static_cast<double>(i) / static_cast<double>(algorithms.size()));
    const Result<void> ran = verifier.run(algorithms[i], outcome);
    if (!ran) return ran.error();
  }
  app::draw_progress(1);
  const Result<std::uint64_t> without_ttl = verifier.count_without_ttl();
  if (!without_ttl) return without_ttl.error();
  outcome.without_ttl = *without_ttl;
  return outcome;
}

Result<int> run_verify(const VerifyArguments& arguments) {
  const Result<std::int64_t> processes =
      app::parse_number("--processes", arguments.processes, {.min = 1, .max = 64});
  if (!processes) return processes.error();
  for (const auto& [option, text, most] : {std::tuple{"--threads", &arguments.threads, 256},
                                           {"--seconds", &arguments.seconds, 3600}}) {
    const Result<std::int64_t> number = app::parse_number(option, *text, {.min = 1, .max = most});
    if (!number) return number.error();
  }
  const Result<std::vector<Algorithm>> algorithms = algorithms_of(arguments);
  if (!algorithms) return algorithms.error();
  if (!parse_demand(arguments.demand)) {
    return Error{ErrorCode::InvalidInput, "--demand: unknown demand \"" + arguments.demand +
                                              "\"; use full, steady, bursty or idle"};
  }
  Result<RedisOptions> options = app::redis_options(arguments.store, "nothing to verify");
  if (!options) return options.error();
  options->key_prefix = audit::unique_prefix("verify");
  const auto store = audit::connect(*options);
  if (!store) return store.error();
  Verifier verifier(arguments, *options, **store, *processes);
  const Result<Verified> outcome = run_all(verifier, *algorithms);
  const Result<std::uint64_t> cleared =
      audit::delete_keys(**store, options->key_prefix, options->timeout);
  if (!outcome) return outcome.error();
  if (!cleared) return cleared.error();
  if (arguments.json) {
    std::cout << outcome_json(*outcome, audit::shown_url(*options)).dump(2) << '\n';
  } else {
    print_outcome(*outcome);
  }
  return outcome->is_exact() ? app::kExitAllowed : app::kExitDenied;
}

using Run = Result<int> (*)(const VerifyArguments&);

CLI::App* add(CLI::App& app, int& exit_code, const char* name, const char* description,
              const std::shared_ptr<VerifyArguments>& arguments, Run run) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("--threads", arguments->threads, "Threads of each process")
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--seconds", arguments->seconds, "Duration of the load, per algorithm")
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--algorithm", arguments->algorithm, "One algorithm, or all")
      ->capture_default_str()
      ->type_name("NAME");
  add_mode_options(*command, arguments->mode, arguments->lifetime);
  command
      ->add_option("--demand", arguments->demand,
                   "When requests are sent: full, steady, bursty or idle")
      ->capture_default_str()
      ->type_name("DEMAND");
  app::on_command(*command, exit_code, [arguments, run] { return run(*arguments); });
  return command;
}

}  // namespace

void add_verify_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* verify =
      add(app, exit_code, "verify", "Verify that a shared store admits exactly what it should",
          arguments, run_verify);
  verify->add_option("--processes", arguments->processes, "Number of processes")
      ->capture_default_str()
      ->type_name("N");
  app::add_url_option(*verify, arguments->store);
  app::add_connection_options(*verify, arguments->store);
  verify->add_flag("--json", arguments->json, "Print JSON");
  verify->footer(kVerifyFooter);

  auto of_worker = std::make_shared<VerifyArguments>();
  CLI::App* worker = add(app, exit_code, kVerifyWorker, "", of_worker, run_verify_worker);
  app::add_store_options(*worker, of_worker->store);
  worker->add_option("--seed", of_worker->seed);
  worker->add_option("--nodes", of_worker->processes);
  worker->group("");
}

}  // namespace penstock::bench
