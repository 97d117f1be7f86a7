#include "bench/program/wire_bench.hpp"

#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "penstock/version.hpp"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>
#include <utility>

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

Result<WireTarget> read_target(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return Error{ErrorCode::InvalidInput, "SERVER \"" + text + "\" must be HOST:PORT"};
  }
  return WireTarget{.host = text.substr(0, colon), .port = text.substr(colon + 1)};
}

Json report_json(const WireArguments& arguments, const std::string& endpoint,
                 const WireFigures& figures) {
  const WireLoad& load = arguments.load;
  Json json{{"version", kVersion},
            {"servers", arguments.servers},
            {"endpoint", endpoint},
            {"rate", load.rate},
            {"connections", load.connections},
            {"depth", load.depth},
            {"keys", load.keys},
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

void print_report(const WireArguments& arguments, const std::string& endpoint,
                  const WireFigures& figures) {
  const auto row = [](const char* name, double value, int places) {
    std::cout << "  " << std::left << std::setw(30) << name << std::right << std::fixed
              << std::setprecision(places) << std::setw(14) << value << '\n';
  };
  const WireLoad& load = arguments.load;
  std::cout << endpoint << " on " << arguments.servers.size()
            << (arguments.servers.size() == 1 ? " server, " : " servers, ") << load.connections
            << " connections, ";
  if (load.depth > 1) std::cout << load.depth << " requests in flight on each, ";
  if (load.rate == 0) {
    std::cout << "at full speed\n\n";
  } else {
    std::cout << load.rate << " requests per second\n\n";
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

}  // namespace

void add_wire_options(CLI::App& command, WireArguments& arguments) {
  WireLoad& load = arguments.load;
  command.add_option("SERVER", arguments.servers, "HOST:PORT; several share the connections")
      ->capture_default_str();
  command.add_option("--keys", load.keys, "Number of keys")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{10'000'000}));
  command.add_option("--distribution", arguments.distribution, "uniform, zipf:S or one")
      ->capture_default_str();
  command.add_option("--connections", load.connections, "Connections, kept open")
      ->capture_default_str()
      ->check(CLI::Range(1U, 20'000U));
  command.add_option("--rate", load.rate, "Requests per second; 0: full speed")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{10'000'000}));
  command.add_option("--time", arguments.time, "Duration of the run")->capture_default_str();
  command.add_option("--seed", load.seed, "Seed of the keys drawn")->capture_default_str();
  command.add_option("--server-pid", arguments.server_pid,
                     "Process of the server, to measure its processor time");
  command.add_flag("--json", arguments.json, "Print JSON");
}

Result<WireLoad> read_wire_load(const WireArguments& arguments) {
  WireLoad load = arguments.load;
  load.targets.clear();
  for (const std::string& server : arguments.servers) {
    Result<WireTarget> target = read_target(server);
    if (!target) return target.error();
    load.targets.push_back(*std::move(target));
  }
  const auto distribution = KeyDistribution::parse(arguments.distribution);
  if (!distribution) {
    return Error{distribution.error().code, "--distribution: " + distribution.error().detail};
  }
  load.distribution = *distribution;
  const Result<Duration> time = app::parse_duration(
      "--time", arguments.time, std::chrono::milliseconds{100}, std::chrono::hours{1});
  if (!time) return time.error();
  load.time = std::chrono::ceil<std::chrono::milliseconds>(*time);
  if (arguments.server_pid != 0) load.server_pid = arguments.server_pid;
  return load;
}

Result<void> run_wire_bench(const WireArguments& arguments, const WireLoad& load,
                            const WireRequestSpec& request_spec) {
  const Result<WireFigures> figures =
      run_wire_load(load, request_spec.protocol, app::draw_progress);
  if (!figures) return figures.error();
  if (arguments.json) {
    std::cout << report_json(arguments, request_spec.endpoint, *figures).dump(2) << '\n';
  } else {
    print_report(arguments, request_spec.endpoint, *figures);
  }
  return {};
}

}  // namespace penstock::bench
