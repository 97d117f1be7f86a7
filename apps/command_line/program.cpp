#include "apps/command_line/program.hpp"

#include "penstock/version.hpp"
#include "rules/yaml/diagnostic.hpp"

#include <unistd.h>

#include <exception>
#include <iomanip>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::app {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    const bool is_hidden = subcommand->get_group().empty();
    if (!is_hidden) names.push_back(subcommand->get_name());
  }
  return names;
}

const CLI::App& deepest_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest_command(*chosen.back());
}

std::string parse_error_text(const CLI::App& command, const CLI::ParseError& error) {
  auto unknown = command.remaining();
  std::erase(unknown, "--");
  if (!unknown.empty()) return describe_unknown(command, unknown.front());
  const auto subcommands = subcommand_names(command);
  if (error.get_name() != "RequiredError" || subcommands.empty()) return error.what();
  return "expected a subcommand: " + CLI::detail::join(subcommands, ", ");
}

int report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version arrive here too
  const CLI::App& command = deepest_command(app);
  const std::string path = command_path(command);
  std::cerr << path << ": " << parse_error_text(command, error) << "\nTry: " << path << " --help\n";
  return kExitBadInput;
}

// The exit code, unless output was lost.
int flushed(const CLI::App& app, int exit_code) {
  if (std::cout.flush()) return exit_code;
  std::cerr << app.get_name() << ": cannot write to standard output\n";
  return kExitBadInput;
}

int parse_and_run(CLI::App& app, int argc, char** argv, int& exit_code) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = report(app, error);
  }
  return flushed(app, exit_code);
}

int introduce(const CLI::App& app, const Program& program) {
  std::cout << program.name << ' ' << kVersion << ": " << program.introduction;
  return flushed(app, kExitAllowed);
}

}  // namespace

std::string describe_unknown(const CLI::App& command, const std::string& argument) {
  const bool is_option = argument.starts_with('-');
  const std::string name = is_option ? argument.substr(0, argument.find('=')) : argument;
  const std::vector<std::string> known =
      is_option ? option_names(command) : subcommand_names(command);
  const std::string kind = is_option ? "option" : known.empty() ? "argument" : "subcommand";
  std::string text = "unknown " + kind + " \"" + name + "\"";
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string_view meant = rules::closest_word(name, candidates);
  if (!meant.empty()) text += "; did you mean " + std::string(meant) + "?";
  return text;
}

std::string command_path(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : command_path(*parent) + " " + command.get_name();
}

void on_command(CLI::App& command, int& exit_code, std::function<Result<int>()> run) {
  command.callback([&command, &exit_code, run = std::move(run)] {
    const Result<int> code = run();
    exit_code = code ? *code : exit_code_of(code.error());
    if (!code) std::cerr << command_path(command) << ": " << code.error().detail << '\n';
  });
}

void on_command(CLI::App& command, int& exit_code, std::function<Result<void>()> run) {
  on_command(command, exit_code, [run = std::move(run)]() -> Result<int> {
    const Result<void> done = run();
    if (!done) return done.error();
    return kExitAllowed;
  });
}

int run_program(int argc, char** argv, const Program& program) {
  const std::string& name = program.name;
  try {
    int exit_code = kExitAllowed;
    CLI::App app{program.description, name};
    if (argc <= 1 && !program.introduction.empty()) return introduce(app, program);
    app.set_version_flag("--version", name + " " + std::string(kVersion),
                         "Print the version and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.get_formatter()->column_width(26);
    app.require_subcommand(1);
    program.add_commands(app, exit_code);
    return parse_and_run(app, argc, argv, exit_code);
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return kExitBadInput;
  }
}

void draw_progress(double share) {
  constexpr int kWidth = 40;
  if (isatty(STDERR_FILENO) == 0) return;
  const int filled = static_cast<int>(share * kWidth);
  std::cerr << '\r' << "  [" << std::string(static_cast<std::size_t>(filled), '#')
            << std::string(static_cast<std::size_t>(kWidth - filled), '.') << "] " << std::setw(3)
            << static_cast<int>(share * 100) << " %" << std::flush;
  if (share >= 1) std::cerr << "\r" << std::string(kWidth + 12, ' ') << '\r' << std::flush;
}

}  // namespace penstock::app
