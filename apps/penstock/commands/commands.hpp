#pragma once

#include <CLI/CLI.hpp>

namespace penstock::app {

// Each adds a subcommand, which stores its exit code in `exit_code`. REQUIRES: it outlives `app`.
void add_init_command(CLI::App& app, int& exit_code);
void add_serve_command(CLI::App& app, int& exit_code);
void add_validate_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_peek_command(CLI::App& app, int& exit_code);
void add_key_commands(CLI::App& app, int& exit_code);       // reset, block and unblock
void add_override_commands(CLI::App& app, int& exit_code);  // override and actions
void add_top_command(CLI::App& app, int& exit_code);
void add_audit_command(CLI::App& app, int& exit_code);
void add_bench_commands(CLI::App& app, int& exit_code);  // verify and bench
void add_demo_command(CLI::App& app, int& exit_code);
// completion, and the hidden command manual
void add_completion_commands(CLI::App& app, int& exit_code);

}  // namespace penstock::app
