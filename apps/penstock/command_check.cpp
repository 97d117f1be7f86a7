#include "apps/penstock/commands.hpp"
#include "apps/penstock/decision_text.hpp"
#include "apps/penstock/number_argument.hpp"
#include "penstock/limiter.hpp"
#include "penstock/quota.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

namespace penstock::app {
namespace {

constexpr const char* kMemoryStore = "memory://";

constexpr const char* kFooter =
    "Limits are written as people say them: 100/s, 600/minute, 30/30s, \"5000/5m burst 200\",\n"
    "\"1000000/day sliding_counter\". Algorithms: token_bucket (the default), gcra, fixed_window,\n"
    "anchored_window, sliding_log, sliding_counter, sub_windows.\n"
    "\n"
    "The memory store lives only as long as the program: every run starts with nothing used.\n"
    "--repeat shows what several requests in a row would get.\n"
    "\n"
    "JSON fields: key, allowed, outcome, algorithm, limit, remaining, reset_after_us, "
    "retry_after_us\n"
    "(null: never). One object per line and decision.\n"
    "\n"
    "Exit codes: 0 allowed, 1 denied, 2 wrong usage or bad input; of the last decision with "
    "--repeat.";

// As typed. Numbers stay text until parse_number, whose errors say more than CLI11's.
struct CheckArguments {
  std::string key;
  std::string limit;
  std::optional<std::string> burst;
  std::optional<std::string> algorithm;
  std::string cost = "1";
  std::string repeat = "1";
  std::string store = kMemoryStore;
  bool json = false;
};

struct CheckRequest {
  Quota quota;
  Cost cost;
  std::int64_t repeat;
};

Result<Quota> read_quota(const CheckArguments& arguments) {
  Result<QuotaSpec> spec = QuotaSpec::parse(arguments.limit);
  if (!spec) return Error{spec.error().code, "--limit " + spec.error().detail};
  if (arguments.burst) {
    const Result<std::int64_t> burst = parse_number("--burst", *arguments.burst, {.least = 1});
    if (!burst) return burst.error();
    spec->capacity = *burst;
  }
  if (arguments.algorithm) {
    const Result<Algorithm> algorithm = parse_algorithm(*arguments.algorithm);
    if (!algorithm) {
      return Error{algorithm.error().code, "--algorithm: " + algorithm.error().detail};
    }
    spec->algorithm = *algorithm;
  }
  Result<Quota> quota = Quota::make(*spec);
  if (!quota) {
    return Error{quota.error().code,
                 "--limit \"" + arguments.limit + "\": " + quota.error().detail};
  }
  return quota;
}

Result<CheckRequest> read_request(const CheckArguments& arguments) {
  if (arguments.key.empty()) {
    return Error{ErrorCode::InvalidInput, "KEY \"\": expected at least one character"};
  }
  if (arguments.store != kMemoryStore) {
    return Error{ErrorCode::InvalidInput,
                 "--store \"" + arguments.store + "\": unknown store; expected " + kMemoryStore};
  }
  const Result<Quota> quota = read_quota(arguments);
  if (!quota) return quota.error();
  const Result<std::int64_t> cost = parse_number("--cost", arguments.cost, {.least = 0});
  if (!cost) return cost.error();
  const Result<std::int64_t> repeat = parse_number("--repeat", arguments.repeat, {.least = 1});
  if (!repeat) return repeat.error();
  return CheckRequest{*quota, Cost{static_cast<std::uint64_t>(*cost)}, *repeat};
}

int run_check(const CheckArguments& arguments) {
  const Result<CheckRequest> request = read_request(arguments);
  if (!request) {
    std::cerr << "penstock check: " << request.error().detail << '\n';
    return kExitBadInput;
  }
  Limiter limiter;
  Decision decision;
  for (std::int64_t turn = 1; turn <= request->repeat && std::cout; ++turn) {
    decision = limiter.check(arguments.key, request->quota, request->cost);
    const Asked asked{.key = arguments.key, .quota = request->quota, .cost = request->cost};
    if (arguments.json) {
      std::cout << as_json(asked, decision) << '\n';
    } else if (request->repeat == 1) {
      std::cout << as_paragraph(asked, decision);
    } else {
      std::cout << as_line(turn, decision) << '\n';
    }
  }
  return decision.allowed() ? kExitAllowed : kExitDenied;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* check = app.add_subcommand("check", "Decide whether a request may pass");
  check->add_option("KEY", arguments->key, "Who asks: a user, an address, an API key")
      ->required()
      ->type_name("");
  check->add_option("--limit", arguments->limit, "What is allowed, such as 100/m")
      ->required()
      ->type_name("LIMIT");
  check
      ->add_option("--burst", arguments->burst,
                   "How many may pass at once; buckets only, default the limit")
      ->type_name("N");
  check->add_option("--algorithm", arguments->algorithm, "How to count; default token_bucket")
      ->type_name("NAME");
  check
      ->add_option("--cost", arguments->cost, "How much the request takes; 0 only looks; default 1")
      ->type_name("N");
  check->add_option("--repeat", arguments->repeat, "Decide so many times in a row; default 1")
      ->type_name("N");
  check->add_option("--store", arguments->store, "Where usage is kept; only memory:// so far")
      ->type_name("URL");
  check->add_flag("--json", arguments->json, "Print JSON");
  check->footer(kFooter);
  check->callback([arguments, &exit_code] { exit_code = run_check(*arguments); });
}

}  // namespace penstock::app
