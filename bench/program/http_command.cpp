#include "apps/command_line/program.hpp"
#include "bench/http_protocol.hpp"
#include "bench/program/commands.hpp"
#include "bench/program/wire_bench.hpp"

#include <memory>
#include <string>

namespace penstock::bench {
namespace {

constexpr const char* kHttpBenchFooter =
    "Requests are sent when they are due, whether or not earlier ones were answered, and their "
    "time\n"
    "counts from then: a server that stalls cannot hide it. With --rate 0 every connection asks "
    "again\n"
    "as soon as it was answered; that measures throughput, not waiting times.\n"
    "\n"
    "Endpoints: take posts a key and --limit to /v1/take; forward-auth asks as a proxy does, with "
    "the "
    "key\n"
    "as the path; plain gets --path from any server.\n"
    "\n"
    "over_admitted: what was admitted beyond what --limit allows in the time of the run (take "
    "only).\n"
    "\n"
    "Exit codes: 0 measured, 2 wrong usage or bad input, 3 the server could not be asked.";

struct HttpArguments {
  WireArguments wire{.servers = {"127.0.0.1:8080"}};
  std::string endpoint = "take";
  std::string path{};
  std::string limit = "1000000000/s";
};

Result<HttpEndpoint> read_endpoint(const std::string& text) {
  if (text == "take") return HttpEndpoint::Take;
  if (text == "forward-auth") return HttpEndpoint::ForwardAuth;
  if (text == "plain") return HttpEndpoint::Plain;
  return Error{ErrorCode::InvalidInput,
               "--endpoint: unknown endpoint \"" + text + "\"; use take, forward-auth or plain"};
}

Result<void> run_http(const HttpArguments& arguments) {
  Result<WireLoad> load = read_wire_load(arguments.wire);
  if (!load) return load.error();
  const Result<HttpEndpoint> endpoint = read_endpoint(arguments.endpoint);
  if (!endpoint) return endpoint.error();
  const Result<Quota> quota = Quota::parse(arguments.limit);
  if (!quota) return Error{quota.error().code, "--limit " + quota.error().detail};
  if (*endpoint == HttpEndpoint::Take) load->quota = *quota;
  const HttpRequestSpec request_spec{.endpoint = *endpoint,
                                     .path = arguments.path,
                                     .host = load->targets.front().host,
                                     .quota = *quota};
  return run_wire_bench(arguments.wire, *load, {.endpoint = arguments.endpoint, .protocol = [&] {
                                                  return make_http_protocol(request_spec);
                                                }});
}

}  // namespace

void add_http_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<HttpArguments>();
  CLI::App* command =
      app.add_subcommand("http", "Ask servers over HTTP, at a rate or at full speed");
  command->add_option("--endpoint", arguments->endpoint, "take, forward-auth or plain")
      ->capture_default_str();
  command->add_option("--path", arguments->path, "Path to ask, in place of the endpoint's own");
  command->add_option("--limit", arguments->limit, "Limit of every key")->capture_default_str();
  add_wire_options(*command, arguments->wire);
  command->footer(kHttpBenchFooter);
  app::on_command(*command, exit_code, [arguments] { return run_http(*arguments); });
}

}  // namespace penstock::bench
