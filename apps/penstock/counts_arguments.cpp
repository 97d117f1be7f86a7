#include "apps/penstock/counts_arguments.hpp"

#include <algorithm>

namespace penstock::app {
namespace {

struct Given {
  bool anywhere = false;
  bool typed = false;  // and not from the environment
};

Given given(const CLI::App& command, const char* name) {
  const CLI::Option* option = command.get_option(name);
  const auto& typed = command.parse_order();
  return {.anywhere = option->count() > 0,
          .typed = std::find(typed.begin(), typed.end(), option) != typed.end()};
}

Error refused(std::string text) { return {ErrorCode::InvalidInput, std::move(text)}; }

Result<CountsPlace> chosen(const CLI::App& command, const CountsArguments& arguments) {
  const Given store = given(command, "--store");
  const Given server = given(command, "--server");
  if (store.typed && server.typed) return refused("--store and --server: only one of them");
  if (store.typed) return CountsPlace::Store;
  if (server.typed) return CountsPlace::Daemon;
  if (store.anywhere && server.anywhere) {
    return refused(std::string(kStoreVariable) + " and " + kServerVariable +
                   " are both in the environment: say which with --store or --server");
  }
  if (server.anywhere) return CountsPlace::Daemon;
  if (!arguments.store.url.empty()) return CountsPlace::Store;
  return refused("--store or --server is needed: where the counts are");
}

}  // namespace

const char* const kCountsHelp =
    "With --server a key is one of /v1/take, or with --rule DOMAIN/RULE a subject of that rule,\n"
    "written as answers have it: api_key=abc. With --store the same count is reached by its name:\n"
    "--name DOMAIN/RULE, or DOMAIN/RULE/LIMIT where the rule has several limits.";

void add_counts_options(CLI::App& command, CountsArguments& arguments) {
  add_daemon_options(command, arguments.daemon);
  add_store_options(command, arguments.store);
  command.get_option("--store")->required(false);
  command
      .add_option("--name", arguments.name,
                  "Name of the limit in the store, where a key has several")
      ->type_name("NAME");
}

void add_rule_options(CLI::App& command, CountsArguments& arguments) {
  command
      .add_option("--rule", arguments.rule, "Rule of the daemon that counts the key: DOMAIN/RULE")
      ->type_name("NAME");
  command.add_option("--domain", arguments.domain, "All rules of this domain that count such keys")
      ->type_name("NAME");
}

Result<CountsPlace> place_of(const CLI::App& command, const CountsArguments& arguments) {
  const Result<CountsPlace> place = chosen(command, arguments);
  if (!place) return place;
  if (*place == CountsPlace::Daemon) {
    if (!arguments.name.empty()) {
      return refused("--name \"" + arguments.name +
                     "\" is of counts in a store; a daemon knows them by --rule DOMAIN/RULE");
    }
    if (!arguments.rule.empty() && !arguments.domain.empty()) {
      return refused("--rule and --domain: only one of them");
    }
    return place;
  }
  if (!arguments.rule.empty()) {
    return refused("--rule \"" + arguments.rule +
                   "\" needs --server, which knows the rules; in a store the count is --name " +
                   arguments.rule);
  }
  if (!arguments.domain.empty()) {
    return refused("--domain \"" + arguments.domain + "\" needs --server, which knows the rules");
  }
  return place;
}

DaemonArguments daemon_of(const CountsArguments& arguments) {
  DaemonArguments daemon = arguments.daemon;
  daemon.timeout = arguments.store.timeout;
  daemon.ca = arguments.store.ca;
  daemon.certificate = arguments.store.certificate;
  daemon.key = arguments.store.key;
  return daemon;
}

}  // namespace penstock::app
