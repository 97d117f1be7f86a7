#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/text/decision_text.hpp"
#include "audit/audit_run.hpp"
#include "audit/redis_access.hpp"
#include "core/duration_text.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;

const std::string kAuditFooter =
    std::string(kStoreHelp) +
    "\n\n"
    "Scans all keys with SCAN, a page at a time. Reports keys per limit, keys that never expire,\n"
    "wrong types, unreadable states and memory (sampled from one key in 16), and the eviction\n"
    "policy, clock, replicas and scripts of every server. Keys created or deleted during the scan\n"
    "may be missed or counted twice.\n"
    "\n"
    "--repair sets a TTL on keys without one: as long as the state needs, a year for counters, a\n"
    "day for unreadable states. It changes nothing else.\n"
    "\n"
    "Examples:\n"
    "  penstock audit --store redis://127.0.0.1:6379\n"
    "  penstock audit --store redis://127.0.0.1:6379 --repair --rate 10000\n"
    "\n"
    "Exit codes: 0 no problems, 1 problems found, 2 wrong usage or invalid input, 3 the store is\n"
    "unavailable.";

struct AuditArguments {
  StoreArguments store;
  std::string rate = "0";
  bool repair = false;
  bool json = false;
};

std::vector<std::string> problems(const audit::AuditReport& report) {
  std::vector<std::string> found;
  for (const audit::ServerInfo& server : report.servers) {
    for (std::string& problem : audit::server_problems(server)) found.push_back(std::move(problem));
  }
  const auto count = [&](const audit::AuditSummary::Fault& fault, const std::string& what) {
    std::string text = std::to_string(fault.keys) + " keys " + what + ":";
    for (const std::string& key : fault.examples) text += " " + key;
    if (fault.keys > fault.examples.size()) text += " ...";
    found.push_back(text);
  };
  if (report.summary.without_ttl().keys > 0) {
    count(report.summary.without_ttl(), "never expire (--repair sets a TTL)");
  }
  for (const auto& [kind, fault] : report.summary.faults()) {
    count(fault, "with " + std::string(to_string(kind)));
  }
  return found;
}

Json server_json(const audit::ServerInfo& server) {
  return {{"address", server.address},
          {"version", server.version},
          {"role", server.role},
          {"replicas", server.replicas},
          {"evicted_keys", server.evicted_keys},
          {"used_memory", server.used_memory},
          {"max_memory", server.max_memory},
          {"eviction_policy", server.eviction_policy},
          {"clock_skew_us", server.clock_skew.count()},
          {"clock_skew_uncertainty_us", server.skew_uncertainty.count()},
          {"scripts", server.scripts},
          {"scripts_wanted", server.scripts_wanted}};
}

Json report_json(const audit::AuditReport& report, const std::string& store) {
  Json json{{"store", store},
            {"keys", report.summary.keys()},
            {"memory_estimate", report.summary.memory()},
            {"without_ttl", report.summary.without_ttl().keys},
            {"repaired", report.repaired}};
  json["faults"] = Json::object();
  for (const auto& [kind, fault] : report.summary.faults()) {
    json["faults"][std::string(to_string(kind))] = fault.keys;
  }
  json["groups"] = Json::array();
  for (const audit::AuditSummary::Group& group : report.summary.groups()) {
    json["groups"].push_back({{"kind", group.kind},
                              {"name", group.name},
                              {"keys", group.keys},
                              {"memory_estimate", group.memory()}});
  }
  json["servers"] = Json::array();
  for (const audit::ServerInfo& server : report.servers) {
    json["servers"].push_back(server_json(server));
  }
  json["problems"] = problems(report);
  return json;
}

std::string skew_text(const audit::ServerInfo& server) {
  const std::string amount = core::rounded_up_text(std::chrono::abs(server.clock_skew));
  return amount + (server.clock_skew < Duration{0} ? " behind" : " ahead of") +
         " this machine's, give or take " + core::rounded_up_text(server.skew_uncertainty);
}

void print_server(const audit::ServerInfo& server) {
  std::cout << server.address << ": Redis " << server.version << ", " << server.role << ", "
            << server.replicas << (server.replicas == 1 ? " replica" : " replicas")
            << "\n  memory    " << server.used_memory / 1024 << " KiB";
  if (server.max_memory > 0) {
    std::cout << " of " << server.max_memory / 1024 << " KiB, " << server.eviction_policy;
  } else {
    std::cout << ", without a limit";
  }
  std::cout << "; " << server.evicted_keys << " keys evicted\n  clock     " << skew_text(server)
            << "\n  scripts   " << server.scripts << " of " << server.scripts_wanted << " loaded\n";
}

void print_report(const audit::AuditReport& report) {
  for (const audit::ServerInfo& server : report.servers) print_server(server);
  std::cout << "\n  " << std::left << std::setw(16) << "kind" << std::setw(40) << "limit"
            << std::right << std::setw(12) << "keys" << std::setw(14) << "KiB, about" << '\n';
  for (const audit::AuditSummary::Group& group : report.summary.groups()) {
    std::cout << "  " << std::left << std::setw(16) << group.kind << std::setw(40)
              << (group.name.empty() ? "-" : group.name) << std::right << std::setw(12)
              << group.keys << std::setw(14) << group.memory() / 1024 << '\n';
  }
  std::cout << "  " << std::left << std::setw(56) << "all" << std::right << std::setw(12)
            << report.summary.keys() << std::setw(14) << report.summary.memory() / 1024 << "\n\n";
  if (report.repaired > 0) {
    std::cout << report.repaired << " keys received a TTL:\n";
    for (const std::string& repair : report.repairs) std::cout << "  " << repair << '\n';
  }
  const std::vector<std::string> found = problems(report);
  const Colour colour = colour_of(STDOUT_FILENO);
  for (const std::string& problem : found) {
    std::cout << mark("problem:", Style::Bad, colour) << ' ' << problem << '\n';
  }
  if (found.empty()) std::cout << mark("No problems found.", Style::Good, colour) << '\n';
}

Result<int> run_audit(const AuditArguments& arguments) {
  const Result<std::int64_t> rate = parse_number("--rate", arguments.rate, {.min = 0});
  if (!rate) return rate.error();
  const Result<RedisOptions> options = redis_options(arguments.store, "no keys to scan");
  if (!options) return options.error();
  const auto store = audit::connect(*options);
  if (!store) return store.error();
  const Result<audit::AuditReport> report =
      audit::audit(**store,
                   {.prefix = options->key_prefix,
                    .repair = arguments.repair ? audit::Repair::Yes : audit::Repair::No,
                    .keys_per_second = static_cast<std::uint64_t>(*rate),
                    .timeout = options->timeout},
                   draw_progress);
  if (!report) return report.error();
  if (arguments.json) {
    std::cout << json_text(report_json(*report, audit::shown_url(*options)), 2) << '\n';
  } else {
    print_report(*report);
  }
  return problems(*report).empty() ? kExitAllowed : kExitDenied;
}

}  // namespace

void add_audit_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<AuditArguments>();
  CLI::App* audit = app.add_subcommand("audit", "Find problems in a shared store");
  add_store_options(*audit, arguments->store);
  audit->add_flag("--repair", arguments->repair, "Set a TTL on keys that never expire");
  audit->add_option("--rate", arguments->rate, "Keys to scan per second; default 0, unlimited")
      ->type_name("N");
  audit->add_flag("--json", arguments->json, "Print JSON");
  audit->footer(kAuditFooter);
  on_command(*audit, exit_code, [arguments] { return run_audit(*arguments); });
}

}  // namespace penstock::app
