#include "apps/penstock/bench_http.hpp"

#include "apps/penstock/commands.hpp"
#include "apps/penstock/duration_argument.hpp"
#include "apps/penstock/progress.hpp"
#include "bench/http_load.hpp"
#include "penstock/version.hpp"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Requests are sent when they are due, whether or not earlier ones were answered, and their "
    "time\n"
    "counts from then: a server that stalls cannot hide it. With --rate 0 every connection asks "
    "again\n"
    "as soon as it was answered; that measures throughput, not waiting times.\n"
    "\n"
    "Doors: take posts a key and --limit to /v1/take; forward-auth asks as a proxy does, with the "
    "key\n"
    "as the path; plain gets --path from any server.\n"
    "\n"
    "over_admitted: what was admitted beyond what --limit allows in the time of the run (take "
    "only).\n"
    "\n"
    "Exit codes: 0 measured, 2 wrong usage or bad input, 3 the server could not be asked.";

// As typed.
struct HttpArguments {
  std::vector<std::string> servers{"127.0.0.1:8080"};
  std::string door = "take";
  std::string limit = "1000000000/s";
  std::string distribution = "uniform";
  std::string time = "5s";
  int server_pid = 0;
  bool json = false;
  bench::HttpLoad load{};
};

Result<bench::HttpTarget> read_target(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return Error{ErrorCode::InvalidInput, "SERVER \"" + text + "\" must be HOST:PORT"};
  }
  return bench::HttpTarget{.host = text.substr(0, colon), .port = text.substr(colon + 1)};
}

Result<bench::HttpDoor> read_door(const std::string& text) {
  if (text == "take") return bench::HttpDoor::Take;
  if (text == "forward-auth") return bench::HttpDoor::ForwardAuth;
  if (text == "plain") return bench::HttpDoor::Plain;
  return Error{ErrorCode::InvalidInput,
               "--door: unknown door \"" + text + "\"; use take, forward-auth or plain"};
}

Result<bench::HttpLoad> read_load(const HttpArguments& arguments) {
  bench::HttpLoad load = arguments.load;
  load.targets.clear();
  for (const std::string& server : arguments.servers) {
    Result<bench::HttpTarget> target = read_target(server);
    if (!target) return target.error();
    load.targets.push_back(*std::move(target));
  }
  const Result<bench::HttpDoor> door = read_door(arguments.door);
  if (!door) return door.error();
  load.door = *door;
  const Result<Quota> quota = Quota::parse(arguments.limit);
  if (!quota) return Error{quota.error().code, "--limit " + quota.error().detail};
  load.quota = *quota;
  const auto distribution = bench::KeyDistribution::parse(arguments.distribution);
  if (!distribution) {
    return Error{distribution.error().code, "--distribution: " + distribution.error().detail};
  }
  load.distribution = *distribution;
  const Result<Duration> time = parse_duration(
      "--time", arguments.time, std::chrono::milliseconds{100}, std::chrono::hours{1});
  if (!time) return time.error();
  load.time = std::chrono::ceil<std::chrono::milliseconds>(*time);
  if (arguments.server_pid != 0) load.server_pid = arguments.server_pid;
  return load;
}

Json report_json(const HttpArguments& arguments, const bench::HttpFigures& figures) {
  Json json{{"version", kVersion},
            {"servers", arguments.servers},
            {"door", arguments.door},
            {"rate", arguments.load.rate},
            {"connections", arguments.load.connections},
            {"keys", arguments.load.keys},
            {"distribution", arguments.distribution},
            {"requests_per_second", figures.requests_per_second},
            {"p50_us", figures.p50_us},
            {"p90_us", figures.p90_us},
            {"p99_us", figures.p99_us},
            {"p999_us", figures.p999_us},
            {"max_us", figures.max_us},
            {"client_cpu_us_per_request", figures.client_cpu_us},
            {"answered", figures.answered},
            {"allowed", figures.allowed},
            {"denied", figures.denied},
            {"failed", figures.failed}};
  if (figures.server_cpu_us) json["server_cpu_us_per_request"] = *figures.server_cpu_us;
  if (figures.over_admitted) json["over_admitted"] = *figures.over_admitted;
  if (figures.failed > 0) json["first_failure"] = figures.first_failure;
  return json;
}

void print_report(const HttpArguments& arguments, const bench::HttpFigures& figures) {
  const auto row = [](const char* name, double value, int places) {
    std::cout << "  " << std::left << std::setw(30) << name << std::right << std::fixed
              << std::setprecision(places) << std::setw(14) << value << '\n';
  };
  std::cout << arguments.door << " on " << arguments.servers.size()
            << (arguments.servers.size() == 1 ? " server, " : " servers, ")
            << arguments.load.connections << " connections, ";
  if (arguments.load.rate == 0) {
    std::cout << "as fast as answers come\n\n";
  } else {
    std::cout << arguments.load.rate << " requests a second\n\n";
  }
  row("requests per second", figures.requests_per_second, 0);
  row("p50 us", figures.p50_us, 1);
  row("p90 us", figures.p90_us, 1);
  row("p99 us", figures.p99_us, 1);
  row("p99.9 us", figures.p999_us, 1);
  row("max us", figures.max_us, 1);
  row("client cpu us per request", figures.client_cpu_us, 2);
  if (figures.server_cpu_us) row("server cpu us per request", *figures.server_cpu_us, 2);
  row("allowed", static_cast<double>(figures.allowed), 0);
  row("denied", static_cast<double>(figures.denied), 0);
  row("failed", static_cast<double>(figures.failed), 0);
  if (figures.over_admitted) row("over-admitted", static_cast<double>(*figures.over_admitted), 0);
  if (figures.failed > 0) std::cout << "  first failure: " << figures.first_failure << '\n';
}

Result<void> run(const HttpArguments& arguments) {
  const Result<bench::HttpLoad> load = read_load(arguments);
  if (!load) return load.error();
  const Result<bench::HttpFigures> figures = bench::run_http_load(*load, draw_progress);
  if (!figures) return figures.error();
  if (arguments.json) {
    std::cout << report_json(arguments, *figures).dump(2) << '\n';
  } else {
    print_report(arguments, *figures);
  }
  return {};
}

}  // namespace

void add_http_bench(CLI::App& bench, int& exit_code) {
  auto arguments = std::make_shared<HttpArguments>();
  bench::HttpLoad& load = arguments->load;
  CLI::App* command =
      bench.add_subcommand("http", "Ask servers over HTTP, at a rate or at full speed");
  command->add_option("SERVER", arguments->servers, "HOST:PORT; several share the connections")
      ->capture_default_str();
  command->add_option("--door", arguments->door, "take, forward-auth or plain")
      ->capture_default_str();
  command->add_option("--path", load.path, "Path to ask, in place of the door's own");
  command->add_option("--limit", arguments->limit, "Limit of every key")->capture_default_str();
  command->add_option("--keys", load.keys, "Keys to ask about")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{10'000'000}));
  command->add_option("--distribution", arguments->distribution, "uniform, zipf:S or one")
      ->capture_default_str();
  command->add_option("--connections", load.connections, "Connections, kept open")
      ->capture_default_str()
      ->check(CLI::Range(1U, 20'000U));
  command->add_option("--rate", load.rate, "Requests a second; 0: as fast as answers come")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{10'000'000}));
  command->add_option("--time", arguments->time, "How long")->capture_default_str();
  command->add_option("--seed", load.seed, "Seed of the keys drawn")->capture_default_str();
  command->add_option("--server-pid", arguments->server_pid,
                      "Process of the server, to measure its processor time");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(kFooter);
  command->callback([arguments, &exit_code] {
    const Result<void> done = run(*arguments);
    exit_code = done ? kExitAllowed : exit_code_of(done.error());
    if (!done) std::cerr << "penstock bench http: " << done.error().detail << '\n';
  });
}

}  // namespace penstock::app
