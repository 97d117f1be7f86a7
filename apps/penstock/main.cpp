#include "apps/penstock/commands.hpp"
#include "apps/penstock/unknown_argument.hpp"
#include "penstock/version.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  penstock serve --config examples/quickstart.yaml\n"
    "  penstock explain --config examples/quickstart.yaml path=/login client_ip=192.0.2.1\n"
    "  penstock check alice --limit \"10/s burst 20\" --repeat 25\n"
    "  penstock check alice --limit 100/m --store redis://127.0.0.1:6379\n"
    "  penstock peek client_ip=192.0.2.1 --rule default/login --server http://127.0.0.1:8080\n"
    "  penstock block mallory --for 10m --store redis://127.0.0.1:6379\n"
    "  penstock top --watch\n"
    "  penstock demo\n"
    "\n"
    "Exit codes: 0 fine or allowed, 1 denied, 2 wrong usage or bad input, 3 the store or the "
    "daemon\n"
    "could not be asked.";

std::string command_path(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : command_path(*parent) + " " + app.get_name();
}

const CLI::App& deepest_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest_command(*chosen.back());
}

std::string parse_error_text(const CLI::App& command, const CLI::ParseError& error) {
  auto unknown = command.remaining();
  std::erase(unknown, "--");
  if (!unknown.empty()) return penstock::app::describe_unknown(command, unknown.front());
  const auto subcommands = penstock::app::subcommand_names(command);
  if (error.get_name() != "RequiredError" || subcommands.empty()) return error.what();
  return "expected a subcommand: " + CLI::detail::join(subcommands, ", ");
}

int report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version arrive here too
  const CLI::App& command = deepest_command(app);
  const std::string path = command_path(command);
  std::cerr << path << ": " << parse_error_text(command, error) << "\nTry: " << path << " --help\n";
  return penstock::app::kExitBadInput;
}

int run(int argc, char** argv) {
  int exit_code = penstock::app::kExitAllowed;
  CLI::App app{"Penstock decides how many requests may pass.", "penstock"};
  app.set_version_flag("--version", "penstock " + std::string(penstock::kVersion),
                       "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.get_formatter()->column_width(26);
  app.require_subcommand(1);
  app.footer(kFooter);

  penstock::app::add_serve_command(app, exit_code);
  penstock::app::add_validate_command(app, exit_code);
  penstock::app::add_explain_command(app, exit_code);
  penstock::app::add_check_command(app, exit_code);
  penstock::app::add_peek_command(app, exit_code);
  penstock::app::add_key_commands(app, exit_code);
  penstock::app::add_top_command(app, exit_code);
  penstock::app::add_audit_command(app, exit_code);
  penstock::app::add_verify_command(app, exit_code);
  penstock::app::add_bench_command(app, exit_code);
  penstock::app::add_demo_command(app, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = report(app, error);
  }
  if (!std::cout.flush()) {
    std::cerr << "penstock: cannot write to standard output\n";
    return penstock::app::kExitBadInput;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "penstock: " << error.what() << '\n';
    return penstock::app::kExitBadInput;
  }
}
