#include "apps/command_line/program.hpp"
#include "bench/program/commands.hpp"
#include "bench/program/wire_bench.hpp"
#include "bench/resp_protocol.hpp"

#include <memory>
#include <string>

namespace penstock::bench {
namespace {

constexpr const char* kRespBenchFooter =
    "Sends CL.THROTTLE with the limit: a bucket in whole seconds, such as \"100/s burst 20\".\n"
    "Latency counts from the due time of a request, as in penstock-bench http.\n"
    "\n"
    "over_admitted: admissions beyond what --limit allows in the time of the run.\n"
    "\n"
    "Exit codes: 0 measured, 2 wrong usage or invalid input, 3 the server is unavailable.";

struct RespArguments {
  WireArguments wire{.servers = {"127.0.0.1:6380"}};
  std::string limit = "1000000/s";
};

Result<void> run_resp(const RespArguments& arguments) {
  Result<WireLoad> load = read_wire_load(arguments.wire);
  if (!load) return load.error();
  const Result<Quota> quota = Quota::parse(arguments.limit);
  if (!quota) return Error{quota.error().code, "--limit " + quota.error().detail};
  const Result<ThrottleLimit> limit = ThrottleLimit::of(*quota);
  if (!limit) return Error{limit.error().code, "--limit: " + limit.error().detail};
  load->quota = *quota;
  return run_wire_bench(arguments.wire, *load, {.endpoint = "resp", .protocol = [&] {
                                                  return make_resp_protocol(*limit);
                                                }});
}

}  // namespace

void add_resp_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RespArguments>();
  arguments->wire.load.connections = 4;
  arguments->wire.load.depth = 32;
  CLI::App* command = app.add_subcommand(
      "resp", "Call servers over the Redis protocol, at a fixed rate or at full speed");
  command->add_option("--limit", arguments->limit, "Limit of every key")->capture_default_str();
  command->add_option("--pipeline", arguments->wire.load.depth, "Commands in flight per connection")
      ->capture_default_str()
      ->check(CLI::Range(1U, 10'000U));
  add_wire_options(*command, arguments->wire);
  command->footer(kRespBenchFooter);
  app::on_command(*command, exit_code, [arguments] { return run_resp(*arguments); });
}

}  // namespace penstock::bench
