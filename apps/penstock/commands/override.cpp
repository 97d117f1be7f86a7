#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/remote/operator_calls.hpp"
#include "apps/penstock/remote/target_arguments.hpp"
#include "apps/penstock/text/decision_text.hpp"
#include "core/duration_text.hpp"
#include "penstock/clock.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

constexpr Duration kShortest = std::chrono::seconds{1};
constexpr Duration kLongest = Days{30};
constexpr std::int64_t kMaxActions = 1000;

constexpr const char* kOverrideFooter =
    "An override changes the limit of a rule for a while, without a new configuration: on all\n"
    "daemons that share the store, and at once. It ends by itself.\n"
    "\n"
    "Examples:\n"
    "  penstock override set api/search --subject user=42 --limit 500/m --for 1h --reason outage\n"
    "  penstock override list\n"
    "  penstock override remove api/search --subject user=42";
constexpr const char* kSetFooter =
    "RULE is DOMAIN/RULE, or DOMAIN/RULE/LIMIT for one limit of a rule with several. With --subject\n"
    "the override is for one key of the rule, as in responses: user=42. Exactly one of --limit,\n"
    "--multiply and --shadow is required. A second override of the same rule and subject replaces\n"
    "the first.\n"
    "\n"
    "Examples:\n"
    "  penstock override set api/search --subject user=42 --limit 500/m --for 1h --reason outage\n"
    "  penstock override set api/search --multiply 2 --for 15m --server http://127.0.0.1:8080\n"
    "  penstock override set api/search --shadow --for 15m\n"
    "\n";
constexpr const char* kListFooter =
    "Examples:\n"
    "  penstock override list\n"
    "  penstock override list api/search --json --server http://127.0.0.1:8080\n"
    "\n";
constexpr const char* kRemoveFooter =
    "Examples:\n"
    "  penstock override remove api/search\n"
    "  penstock override remove api/search --subject user=42 --reason \"import done\"\n"
    "\n";
constexpr const char* kActionsFooter =
    "The actions of operators, the newest first: blocks, unblocks and resets by calls of a daemon,\n"
    "overrides that were set and removed. The last 1000 are kept.\n"
    "\n"
    "Examples:\n"
    "  penstock actions\n"
    "  penstock actions --n 5 --json --server http://127.0.0.1:8080\n"
    "\n";
constexpr const char* kExitCodes =
    "\n\nExit codes: 0 done, 2 wrong usage or invalid input, 3 the store or the daemon is "
    "unavailable.";

struct OverrideArguments {
  TargetArguments target{};
  OverrideCall call{};
  std::string duration;
  std::string count = "20";
  bool json = false;
};

Result<void> print_answer(const DaemonAnswer& answer, bool json,
                          Result<std::string> (*text)(const DaemonAnswer&, Instant)) {
  const Result<std::string> shown = text(answer, system_clock().now());
  if (!shown) return shown.error();
  std::cout << (json ? answer.body : *shown);
  return {};
}

Result<DaemonAnswer> call_server(const OverrideArguments& arguments, const DaemonCall& call) {
  if (arguments.target.daemon.url.empty()) {
    return Error{ErrorCode::InvalidInput, "--server is required"};
  }
  return call_daemon(daemon_of(arguments.target), call);
}

Result<void> run_set(const OverrideArguments& arguments) {
  const OverrideCall& asked = arguments.call;
  const int effects = static_cast<int>(!asked.limit.empty()) +
                      static_cast<int>(!asked.multiply.empty()) + static_cast<int>(asked.shadow);
  if (effects != 1) {
    return Error{ErrorCode::InvalidInput,
                 "exactly one of --limit, --multiply and --shadow is required"};
  }
  const Result<Duration> lasts = parse_duration("--for", arguments.duration, kShortest, kLongest);
  if (!lasts) return lasts.error();
  const Result<DaemonAnswer> answer = call_server(arguments, set_override_call(asked, *lasts));
  if (!answer) return answer.error();
  return print_answer(*answer, arguments.json, override_text);
}

Result<void> run_list(const OverrideArguments& arguments) {
  const Result<DaemonAnswer> answer =
      call_server(arguments, list_overrides_call(arguments.call.rule));
  if (!answer) return answer.error();
  return print_answer(*answer, arguments.json, overrides_text);
}

Result<void> run_remove(const OverrideArguments& arguments) {
  const Result<DaemonAnswer> answer = call_server(arguments, remove_override_call(arguments.call));
  if (!answer) return answer.error();
  return print_answer(*answer, arguments.json, removed_text);
}

Result<void> run_actions(const OverrideArguments& arguments) {
  const Result<std::int64_t> count =
      parse_number("--n", arguments.count, {.min = 1, .max = kMaxActions});
  if (!count) return count.error();
  const Result<DaemonAnswer> answer = call_server(arguments, list_actions_call(*count));
  if (!answer) return answer.error();
  return print_answer(*answer, arguments.json, actions_text);
}

struct Subcommand {
  const char* name;
  const char* description;
  std::string footer;
  Result<void> (*run)(const OverrideArguments&);
};

std::shared_ptr<OverrideArguments> add_call(CLI::App& app, int& exit_code, const Subcommand& what,
                                            CLI::App** added) {
  auto arguments = std::make_shared<OverrideArguments>();
  CLI::App* command = app.add_subcommand(what.name, what.description);
  add_daemon_options(*command, arguments->target.daemon);
  add_connection_options(*command, arguments->target.store);
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(what.footer + kDaemonHelp + kExitCodes);
  on_command(*command, exit_code, [arguments, run = what.run] { return run(*arguments); });
  *added = command;
  return arguments;
}

enum class RuleArgument { Optional, Required };

void add_rule(CLI::App& command, std::string& rule, RuleArgument needs) {
  command.add_option("RULE", rule, "DOMAIN/RULE, or DOMAIN/RULE/LIMIT")
      ->required(needs == RuleArgument::Required)
      ->type_name("");
}

void add_subject(CLI::App& command, OverrideCall& call) {
  command.add_option("--subject", call.subject, "Key of the rule, such as user=42; else all")
      ->type_name("KEY");
}

void add_reason(CLI::App& command, OverrideCall& call) {
  command.add_option("--reason", call.reason, "Why, for the action log")->type_name("TEXT");
}

void add_set(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto arguments =
      add_call(app, exit_code, {"set", "Set an override of a rule", kSetFooter, run_set}, &command);
  add_rule(*command, arguments->call.rule, RuleArgument::Required);
  add_subject(*command, arguments->call);
  command->add_option("--limit", arguments->call.limit, "Another limit, such as 500/m")
      ->type_name("LIMIT");
  command->add_option("--multiply", arguments->call.multiply, "The limit times this, such as 1.5")
      ->type_name("FACTOR");
  command->add_flag("--shadow", arguments->call.shadow, "Do not enforce denials");
  command->add_option("--for", arguments->duration, "How long, such as 1h; at most 30d")
      ->required()
      ->type_name("TIME");
  add_reason(*command, arguments->call);
}

void add_list(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto arguments = add_call(
      app, exit_code, {"list", "Show the overrides in force", kListFooter, run_list}, &command);
  add_rule(*command, arguments->call.rule, RuleArgument::Optional);
}

void add_remove(CLI::App& app, int& exit_code) {
  CLI::App* command = nullptr;
  const auto arguments = add_call(
      app, exit_code, {"remove", "Remove an override before it ends", kRemoveFooter, run_remove},
      &command);
  add_rule(*command, arguments->call.rule, RuleArgument::Required);
  add_subject(*command, arguments->call);
  add_reason(*command, arguments->call);
}

}  // namespace

void add_override_commands(CLI::App& app, int& exit_code) {
  CLI::App* parent =
      app.add_subcommand("override", "Change a limit of a running system for a while");
  parent->require_subcommand(1);
  parent->footer(kOverrideFooter);
  add_set(*parent, exit_code);
  add_list(*parent, exit_code);
  add_remove(*parent, exit_code);

  CLI::App* command = nullptr;
  const auto arguments =
      add_call(app, exit_code, {"actions", "Show what operators did", kActionsFooter, run_actions},
               &command);
  command->add_option("--n", arguments->count, "Number of actions")
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace penstock::app
