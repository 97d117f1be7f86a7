#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/remote/target_arguments.hpp"
#include "apps/penstock/text/decision_text.hpp"
#include "apps/penstock/text/explain_text.hpp"
#include "penstock/shared_limiter.hpp"
#include "rules/model/configuration.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kExplainFooter =
    "Charges nothing. Uses the rules of --config, and with --store the current usage; without\n"
    "--config, queries a running daemon. Each rule is shown with its file and line, and why it\n"
    "applies or not. --json prints the same as JSON; of a daemon, its answer to /v1/explain.\n"
    "Without --domain, the domain is default, or the only one in the files of --config.\n"
    "\n"
    "Examples:\n"
    "  penstock explain --config penstock.yaml --domain api method=GET path=/v1/search "
    "api_key=abc\n"
    "  penstock explain --server http://127.0.0.1:8080 --domain api path=/v1/search api_key=abc\n"
    "\n"
    "Exit codes: 0 it would be allowed, or usage is unknown; 1 it would be denied; 2 wrong usage "
    "or\n"
    "invalid input; 3 the store or the daemon is unavailable.";

// The domain of requests that name none.
constexpr std::string_view kDefaultDomain = "default";
constexpr std::size_t kMaxListedDomains = 10;

struct ExplainArguments {
  std::vector<std::filesystem::path> configuration;
  std::string domain;  // empty when it is not given
  std::string cost = "1";
  std::vector<std::string> attributes;
  TargetArguments target{.store = {.url = kMemoryStore}};
  bool json = false;
};

Error malformed_attribute(const std::string& text) {
  std::string message = "\"" + text + "\" must be NAME=VALUE";
  std::error_code ignored;
  if (text.ends_with(".yaml") || text.ends_with(".yml") || std::filesystem::exists(text, ignored)) {
    message += "; repeat --config for several files";
  }
  return {ErrorCode::InvalidInput, std::move(message)};
}

// Without its domain.
Result<rules::Request> read_request(const ExplainArguments& arguments) {
  rules::Request request{.domain = {}, .descriptors = {{}}};
  const Result<std::int64_t> cost =
      parse_number("--cost", arguments.cost, {.min = 0, .max = 1'000'000'000});
  if (!cost) return cost.error();
  request.cost = Cost{static_cast<std::uint64_t>(*cost)};
  for (const std::string& text : arguments.attributes) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return malformed_attribute(text);
    }
    const std::string_view view = text;
    request.descriptors.front().entries.push_back(
        {.name = view.substr(0, equals), .value = view.substr(equals + 1)});
  }
  return request;
}

// The current decision of every matching limit.
Result<std::vector<Decision>> look_up(const StoreArguments& store, const rules::Match& match) {
  Result<SharedLimiter> limiter = open_shared_limiter(store, "no usage to read");
  if (!limiter) return limiter.error();
  std::vector<Decision> decisions;
  for (const rules::MatchedLimit& matched : match.limits) {
    const Result<Limits> limits =
        Limits::make({{.name = matched.check.name.limit, .quota = matched.check.quota}});
    if (!limits) return limits.error();
    const Result<Decision> decision = limiter->peek(matched.check.name.subject, *limits);
    if (!decision) return decision.error();
    decisions.push_back(*decision);
  }
  return decisions;
}

// The domain of a request without --domain: the default if the configuration has it, otherwise the
// only one.
Result<std::string> implied_domain(const rules::Ruleset& ruleset) {
  if (ruleset.has_domain(kDefaultDomain)) return std::string(kDefaultDomain);
  std::set<std::string_view> domains;
  for (const auto& rule : ruleset.rules()) domains.insert(rule->domain);
  if (domains.size() == 1) return std::string(*domains.begin());
  std::string message = "--domain is required";
  std::size_t listed = 0;
  for (const std::string_view domain : domains) {
    if (++listed > kMaxListedDomains) break;
    message.append(listed == 1 ? "; the configuration has the domains " : ", ").append(domain);
  }
  if (domains.size() > kMaxListedDomains) {
    message += " and " + std::to_string(domains.size() - kMaxListedDomains) + " more";
  }
  return Error{ErrorCode::InvalidInput, std::move(message)};
}

std::string shown(const ExplainReport& report) { return as_text(report, colour_of(STDOUT_FILENO)); }

Result<int> explain_files(const ExplainArguments& arguments) {
  const rules::Loaded loaded = rules::load(arguments.configuration);
  if (!loaded.configuration) {
    std::string text = "the configuration has errors";
    for (const rules::Diagnostic& each : loaded.diagnostics) text += "\n  " + to_string(each);
    return Error{ErrorCode::InvalidInput, text};
  }
  Result<rules::Request> request = read_request(arguments);
  if (!request) return request.error();
  const rules::Ruleset& ruleset = *loaded.configuration->rules;
  const Result<std::string> domain =
      arguments.domain.empty() ? implied_domain(ruleset) : Result<std::string>(arguments.domain);
  if (!domain) return domain.error();
  request->domain = *domain;
  const rules::Explanation explanation = ruleset.explain(*request);
  std::vector<Decision> decisions;
  if (!arguments.target.store.is_memory()) {
    Result<std::vector<Decision>> found = look_up(arguments.target.store, explanation.match);
    if (!found) return found.error();
    decisions = *std::move(found);
  }
  const Explained explained{
      .request = &*request, .explanation = &explanation, .decisions = decisions};
  if (!arguments.json && arguments.domain.empty() && *domain != kDefaultDomain) {
    std::cout << "Using domain " << *domain << ", the only one in the configuration.\n";
  }
  std::cout << (arguments.json ? as_json(explained) : shown(report_of(explained))) << '\n';
  return would_pass(explained) ? kExitAllowed : kExitDenied;
}

Result<int> explain_by_daemon(const ExplainArguments& arguments) {
  const std::string domain =
      arguments.domain.empty() ? std::string(kDefaultDomain) : arguments.domain;
  const Result<rules::Request> request = read_request(arguments);
  if (!request) return request.error();
  Json attributes = Json::object();
  for (const rules::Attribute& each : request->descriptors.front().entries) {
    attributes[std::string(each.name)] = each.value;
  }
  const Json body{{"domain", domain}, {"attributes", attributes}, {"cost", request->cost.units}};
  const Result<DaemonAnswer> answer =
      call_daemon(daemon_of(arguments.target),
                  {.method = "POST", .target = "/v1/explain", .body = json_text(body)});
  if (!answer) return answer.error();
  const Result<ExplainReport> report = read_explained(*answer);
  if (!report) return report.error();
  if (arguments.domain.empty() && report->settled == ExplainReport::Settled::UnknownDomain) {
    return Error{ErrorCode::InvalidInput,
                 "--domain is required: the daemon has no domain \"" + domain + "\""};
  }
  std::cout << (arguments.json ? json_text(Json::parse(answer->body, nullptr, false), 2)
                               : shown(*report))
            << '\n';
  return report->allowed.value_or(true) ? kExitAllowed : kExitDenied;
}

Result<int> run_explain(const ExplainArguments& arguments) {
  const bool by_daemon = arguments.configuration.empty();
  if (by_daemon && arguments.target.daemon.url.empty()) {
    return Error{ErrorCode::InvalidInput, "--config or --server is required"};
  }
  return by_daemon ? explain_by_daemon(arguments) : explain_files(arguments);
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command =
      app.add_subcommand("explain", "Show the rules that apply to a request, and their decision");
  command->add_option("ATTRIBUTE", arguments->attributes, "Attributes of the request: NAME=VALUE");
  command
      ->add_option("--config", arguments->configuration,
                   "Configuration file; repeat it for several files")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->add_option("--domain", arguments->domain, "Domain of the request")->type_name("NAME");
  command->add_option("--cost", arguments->cost, "Cost of the request")
      ->capture_default_str()
      ->type_name("N");
  add_daemon_options(*command, arguments->target.daemon);
  add_store_options(*command, arguments->target.store);
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(kExplainFooter);
  on_command(*command, exit_code, [arguments] { return run_explain(*arguments); });
}

}  // namespace penstock::app
