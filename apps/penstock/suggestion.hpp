#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::app {

// The candidate that was most likely meant: at most a third of its letters wrong, missing, added or
// swapped with the next. Empty when none is that close.
[[nodiscard]] std::optional<std::string> closest(std::string_view typed,
                                                 std::span<const std::string> candidates);

[[nodiscard]] std::vector<std::string> subcommand_names(const CLI::App& command);

// What to tell somebody who gave `command` an argument that it does not know.
[[nodiscard]] std::string describe_unknown(const CLI::App& command, const std::string& argument);

}  // namespace penstock::app
