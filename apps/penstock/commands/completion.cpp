#include "apps/penstock/completion/completion.hpp"

#include "apps/command_line/command_description.hpp"
#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/completion/manual.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace penstock::app {
namespace {

constexpr const char* kCompletionFooter =
    "The Debian package installs the completion of all three shells.\n"
    "\n"
    "Examples:\n"
    "  penstock completion bash > ~/.local/share/bash-completion/completions/penstock\n"
    "  penstock completion zsh > ~/.zfunc/_penstock\n"
    "  penstock completion fish > ~/.config/fish/completions/penstock.fish\n"
    "\n"
    "Exit codes: 0 printed, 2 wrong usage.";

Result<void> print_completion(const CLI::App& app, const std::string& shell) {
  const CommandDescription program = describe(app);
  if (shell == "bash") {
    std::cout << bash_completion(program);
  } else if (shell == "zsh") {
    std::cout << zsh_completion(program);
  } else if (shell == "fish") {
    std::cout << fish_completion(program);
  } else {
    return Error{ErrorCode::InvalidInput, "SHELL \"" + shell + "\": expected bash|zsh|fish"};
  }
  return {};
}

}  // namespace

void add_completion_commands(CLI::App& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "Print the completion script of a shell");
  completion->add_option("SHELL", *shell, "The shell")->required()->type_name("bash|zsh|fish");
  completion->footer(kCompletionFooter);
  on_command(*completion, exit_code, [&app, shell] { return print_completion(app, *shell); });

  CLI::App* manual = app.add_subcommand("manual", "Print the manual page");
  manual->group("");
  on_command(*manual, exit_code, [&app]() -> Result<void> {
    std::cout << manual_page(describe(app));
    return {};
  });
}

}  // namespace penstock::app
