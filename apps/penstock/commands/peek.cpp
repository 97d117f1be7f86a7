#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/remote/daemon_calls.hpp"
#include "apps/penstock/remote/target_arguments.hpp"
#include "apps/penstock/text/decision_text.hpp"
#include "penstock/shared_limiter.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::app {
namespace {

const std::string kPeekFooter =
    std::string(kTargetHelp) +
    "\n\n"
    "Examples:\n"
    "  penstock peek alice --limit 100/m --store redis://127.0.0.1:6379\n"
    "  penstock peek api_key=abc --limit 600/m --name api/search --store redis://127.0.0.1:6379\n"
    "  penstock peek api_key=abc --rule api/search --server http://127.0.0.1:8080\n"
    "\n" +
    kLimitHelp + "\n\n" + kStoreHelp +
    "\n\n"
    "JSON fields: those of penstock check, and rule with --rule and --domain. One object per\n"
    "line and limit. Times of a daemon are rounded up to milliseconds.\n"
    "\n"
    "Exit codes: 0 one more would be allowed, 1 it would be denied, 2 wrong usage or invalid "
    "input,\n"
    "3 the store or the daemon is unavailable.";

struct PeekArguments {
  std::string key;
  LimitArguments limit;
  TargetArguments target;
  bool json = false;
};

using LimitStates = std::vector<LimitState>;

Result<Decision> peek(SharedLimiter& limiter, const PeekArguments& arguments, const Quota& quota) {
  if (arguments.target.name.empty()) return limiter.peek(arguments.key, quota);
  const Result<Limits> limits = Limits::make({{.name = arguments.target.name, .quota = quota}});
  if (!limits) return limits.error();
  return limiter.peek(arguments.key, *limits);
}

Result<LimitStates> peek_in_store(const PeekArguments& arguments, const Quota& quota) {
  Result<SharedLimiter> limiter = open_shared_limiter(arguments.target.store, "no usage to read");
  if (!limiter) return limiter.error();
  const Result<Decision> decision = peek(*limiter, arguments, quota);
  if (!decision) return decision.error();
  return LimitStates{{.quota = quota, .decision = *decision}};
}

Result<LimitStates> peek_at_daemon(const PeekArguments& arguments,
                                   const std::optional<Quota>& quota) {
  const KeyScope scope{.rule = arguments.target.rule, .domain = arguments.target.domain};
  const Result<DaemonAnswer> answer =
      call_daemon(daemon_of(arguments.target), peek_call(arguments.key, scope, quota));
  if (!answer) return answer.error();
  return read_limit_states(*answer);
}

// The limit of --limit; empty with --rule and --domain.
Result<std::optional<Quota>> read_limit(const PeekArguments& arguments) {
  const bool of_rules = !arguments.target.rule.empty() || !arguments.target.domain.empty();
  const LimitArguments& limit = arguments.limit;
  const bool typed = !limit.limit.empty() || limit.burst || limit.algorithm;
  if (of_rules && typed) {
    return Error{ErrorCode::InvalidInput,
                 "--limit, --burst and --algorithm: rules have their own, so not with --rule or "
                 "--domain"};
  }
  if (of_rules) return std::optional<Quota>{};
  if (limit.limit.empty()) {
    return Error{ErrorCode::InvalidInput, "--limit is needed, or --rule with --server"};
  }
  const Result<Quota> quota = read_quota(limit);
  if (!quota) return quota.error();
  return std::optional<Quota>{*quota};
}

Result<LimitStates> peek_all(const CLI::App& command, const PeekArguments& arguments) {
  const Result<void> key = check_key(arguments.key);
  if (!key) return key.error();
  const Result<Target> target = target_of(command, arguments.target);
  if (!target) return target.error();
  const Result<std::optional<Quota>> quota = read_limit(arguments);
  if (!quota) return quota.error();
  if (*target == Target::Daemon) return peek_at_daemon(arguments, *quota);
  return peek_in_store(arguments, **quota);
}

Result<int> run_peek(const CLI::App& command, const PeekArguments& arguments) {
  const Result<LimitStates> states = peek_all(command, arguments);
  if (!states) return states.error();
  const Colour colour = colour_of(STDOUT_FILENO);
  int code = kExitAllowed;
  for (const LimitState& state : *states) {
    const CheckInfo check_info{
        .key = arguments.key, .quota = state.quota, .cost = Cost{0}, .rule = state.rule};
    if (!state.decision.allowed()) code = kExitDenied;
    std::cout << (arguments.json ? as_json(check_info, state.decision) + "\n"
                                 : as_paragraph(check_info, state.decision, colour));
  }
  return code;
}

}  // namespace

void add_peek_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<PeekArguments>();
  CLI::App* peek = app.add_subcommand("peek", "Show the usage of a key without charging it");
  add_key_argument(*peek, arguments->key);
  add_limit_options(*peek, arguments->limit);
  peek->get_option("--limit")->required(false);
  add_target_options(*peek, arguments->target);
  add_rule_options(*peek, arguments->target);
  peek->add_flag("--json", arguments->json, "Print JSON");
  peek->footer(kPeekFooter);
  on_command(*peek, exit_code, [arguments, peek] { return run_peek(*peek, *arguments); });
}

}  // namespace penstock::app
