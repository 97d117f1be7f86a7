#pragma once

#include "apps/command_line/arguments.hpp"
#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/result.hpp"
#include "penstock/shared_limiter.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace penstock::app {

// A store or a daemon, and a limit in it, as given on the command line.
struct TargetArguments {
  StoreArguments store{};
  DaemonArguments daemon{};
  std::string name{};    // of a limit in a store
  std::string rule{};    // "domain/rule" at a daemon
  std::string domain{};  // all rules of this domain
};

enum class Target : std::uint8_t { Store, Daemon };

// Adds --store, --server, their connection options and --name. The default is the URL in
// `arguments`; without one, --store or --server is required.
void add_target_options(CLI::App& command, TargetArguments& arguments);
// Adds --rule and --domain.
void add_rule_options(CLI::App& command, TargetArguments& arguments);

// Options win over environment variables. Fails if both or neither are given, and for options that
// exclude each other. REQUIRES: the command was parsed.
[[nodiscard]] Result<Target> target_of(const CLI::App& command, const TargetArguments& arguments);

// The limiter on a shared store. Fails for the memory store, as redis_options does.
[[nodiscard]] Result<SharedLimiter> open_shared_limiter(const StoreArguments& arguments,
                                                        std::string_view missing);

// The daemon with --timeout, --ca, --cert and --key applied.
[[nodiscard]] DaemonArguments daemon_of(const TargetArguments& arguments);

// For the footer of --help.
extern const char* const kTargetHelp;

}  // namespace penstock::app
