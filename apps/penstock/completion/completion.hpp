#pragma once

#include "apps/command_line/command_description.hpp"

#include <string>

// Completion scripts for shells. REQUIRES: subcommands have no subcommands of their own.
namespace penstock::app {

[[nodiscard]] std::string bash_completion(const CommandDescription& program);
[[nodiscard]] std::string zsh_completion(const CommandDescription& program);
[[nodiscard]] std::string fish_completion(const CommandDescription& program);

}  // namespace penstock::app
