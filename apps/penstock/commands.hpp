#pragma once

#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

namespace penstock::app {

// What scripts can rely on.
inline constexpr int kExitAllowed = 0;
inline constexpr int kExitDenied = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitUnavailable = 3;  // the store, or a daemon, could not be asked

[[nodiscard]] constexpr int exit_code_of(const Error& error) {
  return error.code == ErrorCode::InvalidInput ? kExitBadInput : kExitUnavailable;
}

// Each adds a subcommand, which leaves its exit code in `exit_code`. REQUIRES: it outlives `app`.
void add_serve_command(CLI::App& app, int& exit_code);
void add_validate_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_peek_command(CLI::App& app, int& exit_code);
void add_key_commands(CLI::App& app, int& exit_code);  // reset, block and unblock
void add_top_command(CLI::App& app, int& exit_code);
void add_audit_command(CLI::App& app, int& exit_code);
void add_verify_command(CLI::App& app, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);
void add_demo_command(CLI::App& app, int& exit_code);

}  // namespace penstock::app
