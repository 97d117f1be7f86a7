#include "apps/command_line/program.hpp"
#include "bench/http_protocol.hpp"
#include "bench/program/commands.hpp"
#include "bench/program/wire_bench.hpp"

#include <memory>
#include <string>

namespace penstock::bench {
namespace {

constexpr const char* kHttpBenchFooter =
    "Requests are sent when due, independent of responses (open loop), and latency counts from "
    "the\n"
    "due time: a stalled server cannot hide it. With --rate 0 every connection sends the next\n"
    "request after a response (closed loop); that measures throughput, not latency.\n"
    "\n"
    "Endpoints: take posts a key and --limit to /v1/take; forward-auth sends what a proxy sends,\n"
    "with the key as the path; plain gets --path from any server.\n"
    "\n"
    "over_admitted: admissions beyond what --limit allows in the time of the run (take only).\n"
    "\n"
    "Exit codes: 0 measured, 2 wrong usage or invalid input, 3 the server is unavailable.";

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
      app.add_subcommand("http", "Call servers over HTTP, at a fixed rate or at full speed");
  command->add_option("--endpoint", arguments->endpoint, "take, forward-auth or plain")
      ->capture_default_str();
  command->add_option("--path", arguments->path,
                      "Path of the request, overrides that of the endpoint");
  command->add_option("--limit", arguments->limit, "Limit of every key")->capture_default_str();
  add_wire_options(*command, arguments->wire);
  command->footer(kHttpBenchFooter);
  app::on_command(*command, exit_code, [arguments] { return run_http(*arguments); });
}

}  // namespace penstock::bench
