#include "apps/penstock/commands.hpp"
#include "apps/penstock/duration_argument.hpp"
#include "apps/penstock/duration_text.hpp"
#include "apps/penstock/limit_arguments.hpp"
#include "apps/penstock/store_arguments.hpp"
#include "penstock/shared_limiter.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;

const std::string kFooter =
    std::string(kStoreHelp) +
    "\n\nExit codes: 0 done, 2 wrong usage or bad input, 3 the store could not be asked.";

// As typed.
struct KeyArguments {
  std::string key;
  std::string name;
  std::string duration;
  StoreArguments store;
  bool json = false;
};

// What was done, for people and for programs.
struct Done {
  std::string text;
  Json json;
};

Result<SharedLimiter> open(const KeyArguments& arguments, std::string_view what) {
  const Result<void> key = check_key(arguments.key);
  if (!key) return key.error();
  const Result<RedisOptions> options = redis_options(arguments.store, what);
  if (!options) return options.error();
  Result<SharedLimiter> limiter = SharedLimiter::open(*options);
  if (!limiter) return Error{limiter.error().code, "--store: " + limiter.error().detail};
  return limiter;
}

Result<bool> reset(SharedLimiter& limiter, const KeyArguments& arguments) {
  if (arguments.name.empty()) return limiter.reset(arguments.key);
  // where the state is depends on the name alone
  const Result<Limits> limits = Limits::make({{.name = arguments.name, .quota = per_second(1)}});
  if (!limits) return limits.error();
  return limiter.reset(arguments.key, *limits);
}

Result<Done> run_reset(const KeyArguments& arguments) {
  Result<SharedLimiter> limiter = open(arguments, "nothing to forget");
  if (!limiter) return limiter.error();
  const Result<bool> was_used = reset(*limiter, arguments);
  if (!was_used) return was_used.error();
  return Done{.text = arguments.key + (*was_used ? ": starts anew" : ": had used nothing"),
              .json = {{"key", arguments.key}, {"was_used", *was_used}}};
}

Result<Done> run_block(const KeyArguments& arguments) {
  const Result<Duration> duration =
      parse_duration("--for", arguments.duration, std::chrono::milliseconds{1}, Days{36'500});
  if (!duration) return duration.error();
  Result<SharedLimiter> limiter = open(arguments, "nobody to block");
  if (!limiter) return limiter.error();
  const Result<void> blocked = limiter->block(arguments.key, *duration);
  if (!blocked) return blocked.error();
  return Done{.text = arguments.key + ": blocked for " + exactly(*duration),
              .json = {{"key", arguments.key}, {"blocked_for_us", duration->count()}}};
}

Result<Done> run_unblock(const KeyArguments& arguments) {
  Result<SharedLimiter> limiter = open(arguments, "nobody to unblock");
  if (!limiter) return limiter.error();
  const Result<bool> was_blocked = limiter->unblock(arguments.key);
  if (!was_blocked) return was_blocked.error();
  return Done{.text = arguments.key + (*was_blocked ? ": no longer blocked" : ": was not blocked"),
              .json = {{"key", arguments.key}, {"was_blocked", *was_blocked}}};
}

using Run = Result<Done> (*)(const KeyArguments&);

int run(const std::string& command, const KeyArguments& arguments, Run what) {
  const Result<Done> done = what(arguments);
  if (!done) {
    std::cerr << "penstock " << command << ": " << done.error().detail << '\n';
    return exit_code_of(done.error());
  }
  // a key that is not UTF-8 must not end the program; JSON cannot hold its bytes
  std::cout << (arguments.json ? done->json.dump(-1, ' ', false, Json::error_handler_t::replace)
                               : done->text)
            << '\n';
  return kExitAllowed;
}

std::shared_ptr<KeyArguments> add(CLI::App& app, int& exit_code, const std::string& name,
                                  const std::string& description, Run what) {
  auto arguments = std::make_shared<KeyArguments>();
  CLI::App* command = app.add_subcommand(name, description);
  add_key_argument(*command, arguments->key);
  add_store_options(*command, arguments->store);
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(kFooter);
  command->callback(
      [arguments, &exit_code, name, what] { exit_code = run(name, *arguments, what); });
  return arguments;
}

}  // namespace

void add_key_commands(CLI::App& app, int& exit_code) {
  const auto reset_arguments =
      add(app, exit_code, "reset", "Forget what a key of a shared store has used", run_reset);
  app.get_subcommand("reset")
      ->add_option("--name", reset_arguments->name, "Name of the limit, where a key has several")
      ->type_name("NAME");
  const auto block_arguments =
      add(app, exit_code, "block", "Refuse everything for a key, for a while", run_block);
  app.get_subcommand("block")
      ->add_option("--for", block_arguments->duration, "How long, such as 10m")
      ->required()
      ->type_name("TIME");
  add(app, exit_code, "unblock", "Let a blocked key ask again", run_unblock);
}

}  // namespace penstock::app
