#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/init/default_configuration.hpp"
#include "daemon/daemon.hpp"
#include "daemon/memory_trimmer.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace penstock::app {
namespace {

constexpr const char* kServeFooter =
    "SIGHUP or a changed file reloads the configuration; one with errors is rejected, and the\n"
    "current rules stay. After SIGTERM or SIGINT the daemon reports not ready and keeps serving "
    "for\n"
    "the shutdown delay; then it accepts no more connections and exits when the requests in "
    "flight\n"
    "are answered. A second signal ends the delay, a third one the daemon.\n"
    "\n"
    "Without --config the daemon uses ./penstock.yaml, else /etc/penstock/penstock.yaml; `penstock\n"
    "init` writes the first.\n"
    "\n"
    "Examples:\n"
    "  penstock serve\n"
    "  penstock serve --config examples/quickstart.yaml --listen 127.0.0.1:8080\n"
    "\n"
    "Exit codes: 0 stopped by a signal, 2 wrong usage or invalid configuration, 3 cannot listen.";

struct ServeArguments {
  std::vector<std::filesystem::path> configuration;
  std::vector<std::string> listen;
  std::string admin;
  std::string shutdown_delay;
};

Result<net::Address> read_address(const char* option, const std::string& text) {
  std::optional<net::Address> address = rules::parse_address(text);
  if (address) return *std::move(address);
  return Error{ErrorCode::InvalidInput,
               std::string(option) + " \"" + text + "\" must be an address such as 127.0.0.1:8080"};
}

Result<daemon::DaemonOptions> read_options(const ServeArguments& arguments) {
  daemon::DaemonOptions options{.configuration = arguments.configuration};
  for (const std::string& text : arguments.listen) {
    const Result<net::Address> address = read_address("--listen", text);
    if (!address) return address.error();
    options.listen.push_back(*address);
  }
  if (arguments.admin == "off") {
    options.admin.emplace();
  } else if (!arguments.admin.empty()) {
    const Result<net::Address> address = read_address("--admin", arguments.admin);
    if (!address) return address.error();
    options.admin = *address;
  }
  if (!arguments.shutdown_delay.empty()) {
    const Result<Duration> delay = parse_duration("--shutdown-delay", arguments.shutdown_delay,
                                                  Duration{0}, std::chrono::hours{24});
    if (!delay) return delay.error();
    options.shutdown_delay = *delay;
  }
  return options;
}

Result<void> run_serve(ServeArguments arguments) {
  daemon::set_mmap_threshold();
  if (arguments.configuration.empty()) {
    Result<std::filesystem::path> found = find_configuration();
    if (!found) return found.error();
    arguments.configuration.push_back(*std::move(found));
  }
  Result<daemon::DaemonOptions> options = read_options(arguments);
  if (!options) return options.error();
  Result<std::unique_ptr<daemon::Daemon>> daemon = daemon::Daemon::make(*std::move(options));
  if (!daemon) return daemon.error();
  (*daemon)->run();
  return {};
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command = app.add_subcommand("serve", "Run the daemon");
  command
      ->add_option("--config", arguments->configuration, "Configurations, or directories of them")
      ->type_name("FILE");
  command
      ->add_option("--listen", arguments->listen,
                   "HTTP address, overrides server.listen; port 0 picks a free port")
      ->type_name("HOST:PORT");
  command
      ->add_option("--admin", arguments->admin,
                   "Address of the admin port, overrides server.admin; off: none")
      ->type_name("HOST:PORT");
  command
      ->add_option("--shutdown-delay", arguments->shutdown_delay,
                   "How long to keep serving after SIGTERM, overrides server.shutdown_delay")
      ->type_name("TIME");
  command->footer(kServeFooter);
  on_command(*command, exit_code, [arguments] { return run_serve(*arguments); });
}

}  // namespace penstock::app
