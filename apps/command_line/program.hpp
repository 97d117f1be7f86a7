#pragma once

#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

// The frame of a program with subcommands: parsing, exit codes, errors on standard error.
namespace penstock::app {

// Exit codes are part of the interface: scripts rely on them.
inline constexpr int kExitAllowed = 0;
inline constexpr int kExitDenied = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitUnavailable = 3;  // the store or the daemon is unreachable

[[nodiscard]] constexpr int exit_code_of(const Error& error) {
  return error.code == ErrorCode::InvalidInput ? kExitBadInput : kExitUnavailable;
}

// The name of the program and of its subcommands down to this one: "penstock check".
[[nodiscard]] std::string command_path(const CLI::App& command);

// Runs `run` when `command` is parsed. `exit_code` receives its value; an error is printed after
// the path of the command. REQUIRES: `exit_code` outlives the command.
void on_command(CLI::App& command, int& exit_code, std::function<Result<int>()> run);
void on_command(CLI::App& command, int& exit_code, std::function<Result<void>()> run);

struct Program {
  std::string name;
  std::string description;
  // Printed when there are no arguments, which is an error if this is empty.
  std::string introduction{};
  // Adds the subcommands, which store their exit code in the second argument.
  std::function<void(CLI::App&, int&)> add_commands;
};

// main() of a program.
[[nodiscard]] int run_program(int argc, char** argv, const Program& program);

// Draws a progress bar on standard error if that is a terminal. At 1 the bar is removed.
void draw_progress(double share);

// The error for an argument that `command` does not have, with a suggestion.
[[nodiscard]] std::string describe_unknown(const CLI::App& command, const std::string& argument);

}  // namespace penstock::app
