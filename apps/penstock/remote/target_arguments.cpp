#include "apps/penstock/remote/target_arguments.hpp"

#include <algorithm>

namespace penstock::app {
namespace {

struct Given {
  bool anywhere = false;
  bool typed = false;  // not from the environment
};

Given given(const CLI::App& command, const char* name) {
  const CLI::Option* option = command.get_option(name);
  const auto& typed = command.parse_order();
  return {.anywhere = option->count() > 0,
          .typed = std::find(typed.begin(), typed.end(), option) != typed.end()};
}

Error invalid_arguments(std::string text) { return {ErrorCode::InvalidInput, std::move(text)}; }

Result<Target> chosen(const CLI::App& command, const TargetArguments& arguments) {
  const Given store = given(command, "--store");
  const Given server = given(command, "--server");
  if (store.typed && server.typed) {
    return invalid_arguments("--store and --server: only one of them");
  }
  if (store.typed) return Target::Store;
  if (server.typed) return Target::Daemon;
  if (store.anywhere && server.anywhere) {
    return invalid_arguments(std::string(kStoreVariable) + " and " + kServerVariable +
                             " are both in the environment: choose with --store or --server");
  }
  if (server.anywhere) return Target::Daemon;
  if (!arguments.store.url.empty()) return Target::Store;
  return invalid_arguments("--store or --server is required");
}

}  // namespace

const char* const kTargetHelp =
    "With --server, KEY is a key of /v1/take, or with --rule DOMAIN/RULE a subject of that rule, "
    "as\n"
    "in responses: api_key=abc. With --store, the same limit has the name --name DOMAIN/RULE, or\n"
    "DOMAIN/RULE/LIMIT if the rule has several limits.";

void add_target_options(CLI::App& command, TargetArguments& arguments) {
  add_daemon_options(command, arguments.daemon);
  add_store_options(command, arguments.store);
  command.get_option("--store")->required(false);
  command
      .add_option("--name", arguments.name,
                  "Name of the limit in the store, if the key has several")
      ->type_name("NAME");
}

void add_rule_options(CLI::App& command, TargetArguments& arguments) {
  command.add_option("--rule", arguments.rule, "Rule of the daemon: DOMAIN/RULE")
      ->type_name("NAME");
  command.add_option("--domain", arguments.domain, "All rules of this domain with such keys")
      ->type_name("NAME");
}

Result<Target> target_of(const CLI::App& command, const TargetArguments& arguments) {
  Result<Target> target = chosen(command, arguments);
  if (!target) return target;
  if (*target == Target::Daemon) {
    if (!arguments.name.empty()) {
      return invalid_arguments(
          "--name \"" + arguments.name +
          "\" is for limits in a store; with --server, use --rule DOMAIN/RULE");
    }
    if (!arguments.rule.empty() && !arguments.domain.empty()) {
      return invalid_arguments("--rule and --domain: only one of them");
    }
    return target;
  }
  if (!arguments.rule.empty()) {
    return invalid_arguments("--rule \"" + arguments.rule +
                             "\" needs --server; in a store, the limit is --name " +
                             arguments.rule);
  }
  if (!arguments.domain.empty()) {
    return invalid_arguments("--domain \"" + arguments.domain + "\" needs --server");
  }
  return target;
}

Result<SharedLimiter> open_shared_limiter(const StoreArguments& arguments,
                                          std::string_view missing) {
  const Result<RedisOptions> options = redis_options(arguments, missing);
  if (!options) return options.error();
  Result<SharedLimiter> limiter = SharedLimiter::open(*options);
  if (!limiter) return Error{limiter.error().code, "--store: " + limiter.error().detail};
  return limiter;
}

DaemonArguments daemon_of(const TargetArguments& arguments) {
  DaemonArguments daemon = arguments.daemon;
  daemon.timeout = arguments.store.timeout;
  daemon.ca = arguments.store.ca;
  daemon.certificate = arguments.store.certificate;
  daemon.key = arguments.store.key;
  return daemon;
}

}  // namespace penstock::app
