#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

// The commands and options of a program as plain values, read from its CLI11 definition: for shell
// completion and the manual.
namespace penstock::app {

struct OptionDescription {
  std::vector<std::string> names{};  // "--help", "-h"; of a positional argument, its name
  bool positional = false;
  bool required = false;
  bool repeated = false;  // takes several values
  std::string value{};    // "FILE", "N", "a|b"; empty for a flag
  std::string description{};
  std::string default_value{};
  std::string variable{};  // of the environment

  [[nodiscard]] bool is_file() const { return value == "FILE" || value == "DIR"; }
  // The possible values, if they are listed; otherwise empty.
  [[nodiscard]] std::vector<std::string> choices() const;
};

struct CommandDescription {
  std::string name{};
  std::string description{};
  std::string footer{};  // of --help
  std::vector<OptionDescription> options{};
  std::vector<CommandDescription> commands{};
};

// Each command, followed by its own commands, whose names are then paths: "override set".
[[nodiscard]] std::vector<CommandDescription> with_nested(
    const std::vector<CommandDescription>& commands);

// Hidden commands and options are omitted.
[[nodiscard]] CommandDescription describe(const CLI::App& app);

}  // namespace penstock::app
