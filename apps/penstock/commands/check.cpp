#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/remote/daemon_calls.hpp"
#include "apps/penstock/remote/target_arguments.hpp"
#include "apps/penstock/text/decision_text.hpp"
#include "penstock/limiter.hpp"
#include "penstock/shared_limiter.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

const std::string kCheckFooter =
    std::string(kLimitHelp) + "\n\n" + kStoreHelp +
    "\n\n"
    "The default store is in the memory of this process: every run starts without usage. --repeat\n"
    "decides several times in a row. With --server a running daemon decides, by the limit in the\n"
    "request and not by its rules.\n"
    "\n"
    "Examples:\n"
    "  penstock check alice --limit \"10/s burst 20\" --repeat 25\n"
    "  penstock check alice --limit 100/m --store redis://127.0.0.1:6379\n"
    "  penstock check alice --limit 100/m --server http://127.0.0.1:8080\n"
    "\n"
    "JSON fields: key, allowed, outcome, algorithm, limit, remaining, reset_after_us, "
    "retry_after_us\n"
    "(null: never). One object per line and decision.\n"
    "\n"
    "Exit codes: 0 allowed, 1 denied, 2 wrong usage or invalid input, 3 the store or the daemon "
    "is\n"
    "unavailable (the reason is on standard error). With --repeat, the last decision counts.";

struct CheckArguments {
  std::string key;
  LimitArguments limit;
  std::string cost = "1";
  std::string repeat = "1";
  TargetArguments target;
  bool json = false;
};

struct CheckRequest {
  Quota quota;
  Cost cost;
  std::int64_t repeat;
};

using CheckFunction = std::function<Result<Decision>(const CheckRequest&)>;

Result<CheckRequest> read_request(const CheckArguments& arguments) {
  const Result<void> key = check_key(arguments.key);
  if (!key) return key.error();
  const Result<Quota> quota = read_quota(arguments.limit);
  if (!quota) return quota.error();
  const Result<std::int64_t> cost = parse_number("--cost", arguments.cost, {.min = 0});
  if (!cost) return cost.error();
  const Result<std::int64_t> repeat = parse_number("--repeat", arguments.repeat, {.min = 1});
  if (!repeat) return repeat.error();
  return CheckRequest{*quota, Cost{static_cast<std::uint64_t>(*cost)}, *repeat};
}

// Checks with a Limiter or a SharedLimiter.
template <class AnyLimiter>
CheckFunction check_with(std::shared_ptr<AnyLimiter> limiter, const CheckArguments& arguments) {
  return [limiter, key = arguments.key,
          name = arguments.target.name](const CheckRequest& request) -> Result<Decision> {
    if (name.empty()) return limiter->check(key, request.quota, request.cost);
    const Result<Limits> limits = Limits::make({{.name = name, .quota = request.quota}});
    if (!limits) return limits.error();
    return limiter->check(key, *limits, request.cost);
  };
}

CheckFunction check_at_daemon(const CheckArguments& arguments) {
  return [daemon = daemon_of(arguments.target),
          key = arguments.key](const CheckRequest& request) -> Result<Decision> {
    const Result<DaemonCall> call = take_call(key, request.quota, request.cost);
    if (!call) return call.error();
    const Result<DaemonAnswer> answer = call_daemon(daemon, *call);
    if (!answer) return answer.error();
    const Result<std::vector<LimitState>> counts = read_limit_states(*answer);
    if (!counts) return counts.error();
    return counts->front().decision;
  };
}

Result<CheckFunction> open(const CheckArguments& arguments, Target target) {
  if (target == Target::Daemon) return check_at_daemon(arguments);
  const StoreArguments& store = arguments.target.store;
  if (store.is_memory()) return check_with(std::make_shared<Limiter>(), arguments);
  Result<SharedLimiter> limiter = open_shared_limiter(store, "nothing");
  if (!limiter) {
    return Error{limiter.error().code,
                 limiter.error().detail + "; or " + kMemoryStore + " for a private store"};
  }
  return check_with(std::make_shared<SharedLimiter>(*std::move(limiter)), arguments);
}

Result<int> run_check(const CLI::App& command, const CheckArguments& arguments) {
  const Result<CheckRequest> request = read_request(arguments);
  if (!request) return request.error();
  const Result<Target> target = target_of(command, arguments.target);
  if (!target) return target.error();
  const Result<CheckFunction> check = open(arguments, *target);
  if (!check) return check.error();
  const Colour colour = colour_of(STDOUT_FILENO);
  Decision decision;
  for (std::int64_t turn = 1; turn <= request->repeat && std::cout; ++turn) {
    const Result<Decision> checked = (*check)(*request);
    if (!checked) return checked.error();
    decision = *checked;
    const CheckInfo check_info{
        .key = arguments.key, .quota = request->quota, .cost = request->cost};
    if (arguments.json) {
      std::cout << as_json(check_info, decision) << '\n';
    } else if (request->repeat == 1) {
      std::cout << as_paragraph(check_info, decision, colour);
    } else {
      std::cout << as_line(turn, decision, colour) << '\n';
    }
  }
  return decision.allowed() ? kExitAllowed : kExitDenied;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CheckArguments>();
  arguments->target.store.url = kMemoryStore;
  CLI::App* check = app.add_subcommand("check", "Decide whether a request may pass");
  add_key_argument(*check, arguments->key);
  add_limit_options(*check, arguments->limit);
  check->add_option("--cost", arguments->cost, "Cost of the request; 0 is a peek; default 1")
      ->type_name("N");
  check->add_option("--repeat", arguments->repeat, "Number of decisions in a row; default 1")
      ->type_name("N");
  add_target_options(*check, arguments->target);
  check->add_flag("--json", arguments->json, "Print JSON");
  check->footer(kCheckFooter);
  on_command(*check, exit_code, [arguments, check] { return run_check(*check, *arguments); });
}

}  // namespace penstock::app
