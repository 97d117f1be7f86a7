#pragma once

#include <CLI/CLI.hpp>

namespace penstock::app {

// What scripts can rely on.
inline constexpr int kExitAllowed = 0;
inline constexpr int kExitDenied = 1;
inline constexpr int kExitBadInput = 2;

// Each adds one subcommand, which leaves its exit code in `exit_code`. REQUIRES: it outlives `app`.
void add_check_command(CLI::App& app, int& exit_code);
void add_demo_command(CLI::App& app, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace penstock::app
