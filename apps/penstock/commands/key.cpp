#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/remote/daemon_calls.hpp"
#include "apps/penstock/remote/target_arguments.hpp"
#include "apps/penstock/text/decision_text.hpp"
#include "core/duration_text.hpp"
#include "penstock/limits.hpp"
#include "redis_store/blocking_store.hpp"
#include "redis_store/requests.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;
using redis_store::BlockingStore;

struct KeyArguments {
  std::string key;
  std::string duration;
  std::string reason;
  TargetArguments target;
  bool json = false;
};

// One subcommand: its call to a store or to a daemon, and its report.
struct Action {
  const char* name;
  const char* description;
  const char* more;               // arguments in the examples
  const char* missing_in_memory;  // completes "there is ..." for a memory store
  Result<bool> (*in_store)(BlockingStore&, const KeyArguments&, Duration);
  DaemonCall (*call)(const KeyArguments&, const KeyScope&, Duration);
  const char* member;  // of the daemon's response
  std::string (*report)(Duration, bool answer);
};

Result<bool> reset_in_store(BlockingStore& store, const KeyArguments& arguments, Duration) {
  if (arguments.target.name.empty()) return store.reset(arguments.key);
  // the key in Redis depends on the name only
  const Result<Limits> limits =
      Limits::make({{.name = arguments.target.name, .quota = per_second(1)}});
  if (!limits) return limits.error();
  return store.reset(arguments.key, *limits);
}

Result<bool> block_in_store(BlockingStore& store, const KeyArguments& arguments,
                            Duration duration) {
  if (arguments.target.name.empty()) return store.block(arguments.key, duration);
  return store.block(arguments.key, arguments.target.name, duration);
}

constexpr Action kReset{.name = "reset",
                        .description = "Reset the usage of a key",
                        .more = "",
                        .missing_in_memory = "no usage to reset",
                        .in_store = reset_in_store,
                        .call = [](const KeyArguments& arguments, const KeyScope& scope,
                                   Duration) { return reset_call(arguments.key, scope); },
                        .member = "was_used",
                        .report = [](Duration, bool used) -> std::string {
                          return used ? "usage reset" : "had no usage";
                        }};
constexpr Action kBlock{
    .name = "block",
    .description = "Deny all requests of a key for some time",
    .more = " --for 10m",
    .missing_in_memory = "no key to block",
    .in_store = block_in_store,
    .call = [](const KeyArguments& arguments, const KeyScope& scope,
               Duration duration) { return block_call(arguments.key, scope, duration); },
    .member = "was_blocked",
    .report = [](Duration duration, bool) { return "blocked for " + core::exact_text(duration); }};
constexpr Action kUnblock{.name = "unblock",
                          .description = "Unblock a key",
                          .more = "",
                          .missing_in_memory = "no key to unblock",
                          .in_store = block_in_store,
                          .call = [](const KeyArguments& arguments, const KeyScope& scope,
                                     Duration) { return unblock_call(arguments.key, scope); },
                          .member = "was_blocked",
                          .report = [](Duration, bool blocked) -> std::string {
                            return blocked ? "no longer blocked" : "was not blocked";
                          }};

Result<bool> run_in_store(const Action& action, const KeyArguments& arguments, Duration duration) {
  const Result<RedisOptions> options =
      redis_options(arguments.target.store, action.missing_in_memory);
  if (!options) return options.error();
  Result<redis::Options> client = redis_store::client_options(*options);
  if (!client) return Error{client.error().code, "--store: " + client.error().detail};
  BlockingStore store(*options, *std::move(client));
  return action.in_store(store, arguments, duration);
}

Result<bool> run_at_daemon(const Action& action, const KeyArguments& arguments, Duration duration) {
  const KeyScope scope{
      .rule = arguments.target.rule, .domain = arguments.target.domain, .reason = arguments.reason};
  const Result<DaemonAnswer> answer =
      call_daemon(daemon_of(arguments.target), action.call(arguments, scope, duration));
  if (!answer) return answer.error();
  return read_flag(*answer, action.member);
}

Result<void> run_key_command(const CLI::App& command, const Action& action,
                             const KeyArguments& arguments) {
  const Result<void> key = check_key(arguments.key);
  if (!key) return key.error();
  const bool is_block = &action == &kBlock;
  Duration duration{0};
  if (is_block) {
    const Result<Duration> typed =
        parse_duration("--for", arguments.duration, std::chrono::milliseconds{1}, Days{36'500});
    if (!typed) return typed.error();
    duration = *typed;
  }
  const Result<Target> target = target_of(command, arguments.target);
  if (!target) return target.error();
  if (*target == Target::Store && !arguments.reason.empty()) {
    return Error{ErrorCode::InvalidInput, "--reason is for the action log, which needs --server"};
  }
  const Result<bool> answer = *target == Target::Store ? run_in_store(action, arguments, duration)
                                                       : run_at_daemon(action, arguments, duration);
  if (!answer) return answer.error();
  if (!arguments.json) {
    std::cout << arguments.key << ": " << action.report(duration, *answer) << '\n';
    return {};
  }
  Json json{{"key", arguments.key}};
  if (is_block) {
    json["blocked_for_us"] = duration.count();
  } else {
    json[action.member] = *answer;
  }
  std::cout << json_text(json) << '\n';
  return {};
}

std::string footer_of(const Action& action) {
  const std::string start = std::string("  penstock ") + action.name;
  const std::string more = action.more;
  return std::string(kTargetHelp) + "\n\nExamples:\n" +                                      //
         start + " alice" + more + " --store redis://127.0.0.1:6379\n" +                     //
         start + " api_key=abc" + more + " --name api/search --store redis://127.0.0.1\n" +  //
         start + " api_key=abc" + more + " --rule api/search --server http://127.0.0.1:8080\n" +
         start + " api_key=abc" + more + " --domain api --server http://127.0.0.1:8080\n\n" +
         kStoreHelp + "\n\n" + kDaemonHelp +
         "\n\nExit codes: 0 done, 2 wrong usage or invalid input, 3 the store or the daemon is "
         "unavailable.";
}

std::shared_ptr<KeyArguments> add(CLI::App& app, int& exit_code, const Action& action) {
  auto arguments = std::make_shared<KeyArguments>();
  CLI::App* command = app.add_subcommand(action.name, action.description);
  add_key_argument(*command, arguments->key);
  add_target_options(*command, arguments->target);
  add_rule_options(*command, arguments->target);
  command->add_option("--reason", arguments->reason, "Why, for the action log of the daemon")
      ->type_name("TEXT");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(footer_of(action));
  on_command(*command, exit_code, [arguments, command, &action] {
    return run_key_command(*command, action, *arguments);
  });
  return arguments;
}

}  // namespace

void add_key_commands(CLI::App& app, int& exit_code) {
  add(app, exit_code, kReset);
  const auto block_arguments = add(app, exit_code, kBlock);
  app.get_subcommand("block")
      ->add_option("--for", block_arguments->duration, "How long, such as 10m")
      ->required()
      ->type_name("TIME");
  add(app, exit_code, kUnblock);
}

}  // namespace penstock::app
