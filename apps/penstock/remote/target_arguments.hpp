#pragma once

#include "apps/command_line/store_arguments.hpp"
#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace penstock::app {

// Where the counts of keys are, and which of them are meant, as typed.
struct TargetArguments {
  StoreArguments store{};
  DaemonArguments daemon{};
  std::string name{};    // of a limit; in a store
  std::string rule{};    // "domain/rule"; at a daemon
  std::string domain{};  // the same for all its rules
};

enum class Target : std::uint8_t { Store, Daemon };

// --store and --server with what belongs to them, and --name. What the store has for a URL is the
// default; without one, either must be given.
void add_target_options(CLI::App& command, TargetArguments& arguments);
// --rule and --domain.
void add_rule_options(CLI::App& command, TargetArguments& arguments);

// Which of the two was meant: what is typed wins over the environment. The error is of both, of
// neither, and of options that do not go together. REQUIRES: the command was parsed.
[[nodiscard]] Result<Target> target_of(const CLI::App& command, const TargetArguments& arguments);

// The daemon, reached as --timeout, --ca, --cert and --key say.
[[nodiscard]] DaemonArguments daemon_of(const TargetArguments& arguments);

// For the footer of --help.
extern const char* const kTargetHelp;

}  // namespace penstock::app
