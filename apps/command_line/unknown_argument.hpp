#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace penstock::app {

[[nodiscard]] std::vector<std::string> subcommand_names(const CLI::App& command);

// What to tell somebody who gave `command` an argument that it does not know.
[[nodiscard]] std::string describe_unknown(const CLI::App& command, const std::string& argument);

}  // namespace penstock::app
