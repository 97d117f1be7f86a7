#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/remote/daemon_access.hpp"
#include "apps/penstock/terminal/full_screen.hpp"
#include "apps/penstock/top/top_screen.hpp"
#include "apps/penstock/top/top_text.hpp"
#include "penstock/clock.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

constexpr const char* kAdminVariable = "PENSTOCK_ADMIN";
constexpr const char* kUsualAdmin = "http://127.0.0.1:9090";
constexpr std::int64_t kMaxRows = 1000;  // the maximum of /top
constexpr Duration kRefresh = std::chrono::seconds{1};

constexpr const char* kTopFooter =
    "Queries the admin port of a running daemon for the busiest subjects of its rules, and of\n"
    "limits in the request. Counts decay by half every ten seconds, and may be too high with many\n"
    "subjects, never too low.\n"
    "\n"
    "On a terminal the view is live: r, d and s sort by requests, denials and the denied share, q\n"
    "quits. With --once or --json, or if standard output is not a terminal, it prints once.\n"
    "\n"
    "A token is needed if the admin port is not bound to this machine only.\n"
    "\n"
    "Examples:\n"
    "  penstock top\n"
    "  penstock top --once --by denied --n 5 --admin http://127.0.0.1:9090\n"
    "\n"
    "JSON fields: by, and entries with rule, subject and count.\n"
    "\n"
    "Exit codes: 0 done, 2 wrong usage or invalid input, 3 the daemon is unavailable.";

struct TopArguments {
  DaemonArguments daemon{.option = "--admin", .url = kUsualAdmin};
  std::string by = "requests";
  std::string count = "20";
  bool once = false;
  bool json = false;
};

Result<std::int64_t> rows_of(const TopArguments& arguments) {
  if (arguments.by != "requests" && arguments.by != "denied") {
    return Error{ErrorCode::InvalidInput,
                 "--by \"" + arguments.by + "\": expected requests or denied"};
  }
  return parse_number("--n", arguments.count, {.min = 1, .max = kMaxRows});
}

// The error of an unreachable admin port says how to choose another.
Result<DaemonAnswer> call_admin(const DaemonArguments& daemon, const DaemonCall& call) {
  Result<DaemonAnswer> answer = call_daemon(daemon, call);
  if (answer || answer.error().code != ErrorCode::Unavailable) return answer;
  return Error{
      ErrorCode::Unavailable,
      answer.error().detail + "; set the URL of the admin port with --admin or " + kAdminVariable};
}

Result<Top> fetch(const DaemonArguments& daemon, const std::string& by, std::int64_t rows) {
  const Result<DaemonAnswer> answer =
      call_admin(daemon, {.target = "/top?scope=node&by=" + by + "&n=" + std::to_string(rows)});
  if (!answer) return answer.error();
  return read_top(*answer);
}

// The live view: what it shows, and the previous reading that rates are computed from.
class LiveTop {
 public:
  LiveTop(const TopArguments& arguments, std::int64_t rows)
      : daemon_(arguments.daemon), rows_(rows) {
    screen_.url = daemon_.url;
    screen_.order = arguments.by == "denied" ? TopOrder::Denied : TopOrder::Requests;
  }

  [[nodiscard]] Result<void> refresh() {
    const bool by_denials = screen_.order != TopOrder::Requests;
    Result<Top> top = fetch(daemon_, by_denials ? "denied" : "requests", rows_);
    if (!top) return top.error();
    const Result<DaemonAnswer> metrics = call_admin(daemon_, {.target = "/metrics"});
    if (!metrics) return metrics.error();
    const Result<RequestTotals> totals = read_totals(*metrics);
    if (!totals) return totals.error();
    const Instant now = system_clock().now();
    if (read_at_ != Instant{}) {
      screen_.rates = rates_between(screen_.totals, *totals, now - read_at_);
    }
    read_at_ = now;
    screen_.totals = *totals;
    screen_.top = *std::move(top);
    sort_rows(screen_.top, screen_.order);
    return {};
  }

  // Whether the key changed the order.
  [[nodiscard]] bool on_key(char key) {
    const TopOrder before = screen_.order;
    if (key == 'r') screen_.order = TopOrder::Requests;
    if (key == 'd') screen_.order = TopOrder::Denied;
    if (key == 's') screen_.order = TopOrder::DeniedShare;
    return screen_.order != before;
  }

  void draw() const {
    const FullScreen::Size size = FullScreen::size();
    FullScreen::show(
        draw_top(screen_, {.rows = size.rows, .columns = size.columns}, colour_of(STDOUT_FILENO)));
  }

  // A daemon that restarts is shown as an error until it answers again.
  void refresh_and_draw() {
    const Result<void> done = refresh();
    screen_.error = done ? "" : done.error().detail;
    draw();
  }

 private:
  DaemonArguments daemon_;
  std::int64_t rows_;
  TopScreen screen_{};
  Instant read_at_{};
};

// Until q or a signal, which it returns.
int watch(LiveTop& live, FullScreen& screen) {
  live.draw();
  while (std::cout) {
    const FullScreen::Event event = screen.wait(kRefresh);
    switch (event.kind) {
      case FullScreen::Kind::Timeout: live.refresh_and_draw(); break;
      case FullScreen::Kind::Redraw: live.draw(); break;
      case FullScreen::Kind::Ended: return event.signal;
      case FullScreen::Kind::Key:
        if (event.key == 'q') return 0;
        if (live.on_key(event.key)) live.refresh_and_draw();
        break;
    }
  }
  return 0;
}

Result<void> show_live(const TopArguments& arguments, std::int64_t rows) {
  LiveTop live(arguments, rows);
  const Result<void> reachable = live.refresh();
  if (!reachable) return reachable.error();
  int signal = 0;
  {
    const Result<std::unique_ptr<FullScreen>> screen = FullScreen::open();
    if (!screen) return screen.error();
    signal = watch(live, **screen);
  }
  // the terminal is restored: end as the signal would have ended the process
  if (signal != 0) (void)raise(signal);
  return {};
}

Result<void> show(const TopArguments& arguments) {
  const Result<std::int64_t> rows = rows_of(arguments);
  if (!rows) return rows.error();
  const bool live =
      !arguments.once && !arguments.json && is_terminal(STDOUT_FILENO) && is_terminal(STDIN_FILENO);
  if (live) return show_live(arguments, *rows);
  const Result<Top> top = fetch(arguments.daemon, arguments.by, *rows);
  if (!top) return top.error();
  std::cout << (arguments.json ? top_json(*top) : top_table(*top));
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
  top->add_option("--token", arguments->daemon.token,
                  "Bearer token of the daemon; better in the environment")
      ->type_name("TEXT")
      ->envname(kTokenVariable);
  top->add_option("--by", arguments->by, "Order of the rows")
      ->capture_default_str()
      ->type_name("requests|denied");
  top->add_option("--n", arguments->count, "Number of rows")->capture_default_str()->type_name("N");
  top->add_flag("--once", arguments->once, "Print once, also on a terminal");
  top->add_option("--timeout", arguments->daemon.timeout, "Timeout of a call")
      ->capture_default_str()
      ->type_name("TIME");
  top->add_flag("--json", arguments->json, "Print JSON");
  top->footer(kTopFooter);
  on_command(*top, exit_code, [arguments] { return show(*arguments); });
}

}  // namespace penstock::app
