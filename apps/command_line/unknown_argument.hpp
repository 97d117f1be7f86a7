#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace penstock::app {

[[nodiscard]] std::vector<std::string> subcommand_names(const CLI::App& command);

// The error for an argument that `command` does not have, with a suggestion.
[[nodiscard]] std::string describe_unknown(const CLI::App& command, const std::string& argument);

}  // namespace penstock::app
