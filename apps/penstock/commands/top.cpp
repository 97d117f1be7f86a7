#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/remote/daemon_access.hpp"
#include "apps/penstock/text/top_text.hpp"
#include "audit/redis_access.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

constexpr const char* kAdminVariable = "PENSTOCK_ADMIN";
constexpr const char* kUsualAdmin = "http://127.0.0.1:9090";
constexpr std::int64_t kMaxRows = 1000;  // the maximum of /top
constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

constexpr const char* kTopFooter =
    "Queries the admin port of a running daemon for the busiest subjects of its rules. Counts "
    "decay\n"
    "by half every ten seconds, and may be too high with many subjects, never too low. Only\n"
    "decisions by rules are counted, not those of /v1/take.\n"
    "\n"
    "--watch refreshes every second until Ctrl-C; with --json, or if standard output is not a\n"
    "terminal, it prints once.\n"
    "\n"
    "Examples:\n"
    "  penstock top --watch\n"
    "  penstock top --by denied --n 5 --admin http://127.0.0.1:9090\n"
    "\n"
    "JSON fields: by, and entries with rule, subject and count.\n"
    "\n"
    "Exit codes: 0 done, 2 wrong usage or invalid input, 3 the daemon is unavailable.";

struct TopArguments {
  DaemonArguments daemon{.option = "--admin", .url = kUsualAdmin};
  std::string by = "requests";
  std::string count = "20";
  bool watch = false;
  bool json = false;
};

Result<DaemonCall> call_of(const TopArguments& arguments) {
  const Result<std::int64_t> count =
      parse_number("--n", arguments.count, {.min = 1, .max = kMaxRows});
  if (!count) return count.error();
  if (arguments.by != "requests" && arguments.by != "denied") {
    return Error{ErrorCode::InvalidInput,
                 "--by \"" + arguments.by + "\": expected requests or denied"};
  }
  return DaemonCall{.target = "/top?by=" + arguments.by + "&n=" + std::to_string(*count)};
}

// The text to print, with a final newline.
Result<std::string> fetch(const TopArguments& arguments, const DaemonCall& call) {
  const Result<DaemonAnswer> answer = call_daemon(arguments.daemon, call);
  if (!answer) return answer.error();
  const Result<Top> top = read_top(*answer);
  if (!top) return top.error();
  return arguments.json ? top_json(*top) : top_table(*top);
}

Result<void> show(const TopArguments& arguments) {
  const Result<DaemonCall> call = call_of(arguments);
  if (!call) return call.error();
  const bool watch = arguments.watch && !arguments.json && isatty(STDOUT_FILENO) != 0;
  audit::Pace pace(1);
  do {
    pace.wait_for(1);
    const Result<std::string> text = fetch(arguments, *call);
    if (!text) return text.error();
    std::cout << (watch ? kClearScreen : "") << *text << std::flush;
  } while (watch && std::cout);
  return {};
}

}  // namespace

void add_top_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<TopArguments>();
  CLI::App* top = app.add_subcommand("top", "Show the keys with the most requests or denials");
  top->add_option("--admin", arguments->daemon.url, "Admin port of a running daemon")
      ->capture_default_str()
      ->type_name("URL")
      ->envname(kAdminVariable);
  top->add_option("--by", arguments->by, "Order: requests or denied")
      ->capture_default_str()
      ->type_name("WHAT");
  top->add_option("--n", arguments->count, "Number of rows")->capture_default_str()->type_name("N");
  top->add_flag("--watch", arguments->watch, "Refresh every second");
  top->add_option("--timeout", arguments->daemon.timeout, "Timeout of a call")
      ->capture_default_str()
      ->type_name("TIME");
  top->add_flag("--json", arguments->json, "Print JSON");
  top->footer(kTopFooter);
  on_command(*top, exit_code, [arguments] { return show(*arguments); });
}

}  // namespace penstock::app
