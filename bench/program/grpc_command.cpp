#include "apps/command_line/program.hpp"
#include "bench/grpc_protocol.hpp"
#include "bench/program/commands.hpp"
#include "bench/program/wire_bench.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::bench {
namespace {

constexpr const char* kGrpcBenchFooter =
    "Calls ShouldRateLimit of Envoy's rate limit service, without TLS. Latency counts from the "
    "due\n"
    "time of a request, as in penstock-bench http.\n"
    "\n"
    "--limit is sent with every request and overrides the rules: a number per second, minute, "
    "hour\n"
    "or day, in fixed windows. With --limit rules, the rules of the domain decide. The server "
    "must\n"
    "know the domain in either case.\n"
    "\n"
    "over_admitted: admissions beyond what --limit allows in the time of the run; unknown when "
    "the\n"
    "rules decide.\n"
    "\n"
    "Exit codes: 0 measured, 2 wrong usage or invalid input, 3 the server is unavailable.";

constexpr const char* kByRules = "rules";

struct GrpcArguments {
  WireArguments wire{.servers = {"127.0.0.1:8081"}};
  std::string domain = "default";
  std::vector<std::string> descriptors{"key={key}"};
  std::string limit = "1000000000/s";
};

// Fixed windows like Envoy's limits, unless the limit has a burst.
Result<Quota> read_limit(const std::string& text) {
  Result<QuotaSpec> spec = QuotaSpec::parse(text);
  if (!spec) return spec.error();
  if (!spec->capacity) spec->algorithm = Algorithm::FixedWindow;
  return Quota::make(*spec);
}

Result<void> run_grpc(const GrpcArguments& arguments) {
  Result<WireLoad> load = read_wire_load(arguments.wire);
  if (!load) return load.error();
  GrpcRequestSpec request_spec{.authority = arguments.wire.servers.front(),
                               .message = {.domain = arguments.domain, .descriptors = {}}};
  for (const std::string& text : arguments.descriptors) {
    Result<DescriptorPattern> pattern = parse_descriptor(text);
    if (!pattern) return pattern.error();
    request_spec.message.descriptors.push_back(*std::move(pattern));
  }
  if (arguments.limit != kByRules) {
    const Result<Quota> quota = read_limit(arguments.limit);
    if (!quota) return Error{quota.error().code, "--limit " + quota.error().detail};
    const Result<RequestLimit> limit = RequestLimit::of(*quota);
    if (!limit) return Error{limit.error().code, "--limit " + limit.error().detail};
    request_spec.message.limit = *limit;
    load->quota = *quota;
  }
  return run_wire_bench(arguments.wire, *load, {.endpoint = "grpc", .protocol = [&] {
                                                  return make_grpc_protocol(request_spec);
                                                }});
}

}  // namespace

void add_grpc_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<GrpcArguments>();
  arguments->wire.load.connections = 4;
  arguments->wire.load.depth = 32;
  CLI::App* command =
      app.add_subcommand("grpc", "Call servers as Envoy does, at a fixed rate or at full speed");
  command->add_option("--domain", arguments->domain, "Domain of the requests")
      ->capture_default_str();
  command
      ->add_option("--descriptor", arguments->descriptors,
                   "NAME=VALUE,NAME=VALUE; {key} is the key of a request; may be repeated")
      ->capture_default_str()
      ->expected(1)
      ->take_all();
  command->add_option("--limit", arguments->limit, "Limit of every key, or rules")
      ->capture_default_str();
  command->add_option("--streams", arguments->wire.load.depth, "Calls in flight per connection")
      ->capture_default_str()
      ->check(CLI::Range(1U, 10'000U));
  add_wire_options(*command, arguments->wire);
  command->footer(kGrpcBenchFooter);
  app::on_command(*command, exit_code, [arguments] { return run_grpc(*arguments); });
}

}  // namespace penstock::bench
