#include "apps/command_line/limit_arguments.hpp"

#include "apps/command_line/value_arguments.hpp"

namespace penstock::app {

const char* const kLimitHelp =
    "Limits: 100/s, 600/minute, 30/30s, \"5000/5m burst 200\", \"1000000/day sliding_counter\".\n"
    "Algorithms: token_bucket (the default), gcra, fixed_window,\n"
    "anchored_window, sliding_log, sliding_counter, sub_windows.";

void add_limit_options(CLI::App& command, LimitArguments& arguments) {
  command.add_option("--limit", arguments.limit, "The limit, such as 100/m")
      ->required()
      ->type_name("LIMIT");
  command.add_option("--burst", arguments.burst, "Burst of a bucket; default the limit")
      ->type_name("N");
  command.add_option("--algorithm", arguments.algorithm, "Algorithm; default token_bucket")
      ->type_name("NAME");
}

Result<Quota> read_quota(const LimitArguments& arguments) {
  Result<QuotaSpec> spec = QuotaSpec::parse(arguments.limit);
  if (!spec) return Error{spec.error().code, "--limit " + spec.error().detail};
  if (arguments.burst) {
    const Result<std::int64_t> burst = parse_number("--burst", *arguments.burst, {.min = 1});
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

void add_key_argument(CLI::App& command, std::string& key) {
  command.add_option("KEY", key, "The client: a user, an address, an API key")
      ->required()
      ->type_name("");
}

Result<void> check_key(const std::string& key) {
  if (!key.empty()) return {};
  return Error{ErrorCode::InvalidInput, "KEY \"\": expected at least one character"};
}

}  // namespace penstock::app
