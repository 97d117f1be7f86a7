#pragma once

#include <CLI/CLI.hpp>

namespace penstock::bench {

// Each adds a subcommand, which stores its exit code in `exit_code`. REQUIRES: it outlives `app`.
void add_store_command(CLI::App& app, int& exit_code);
void add_http_command(CLI::App& app, int& exit_code);
void add_grpc_command(CLI::App& app, int& exit_code);
void add_resp_command(CLI::App& app, int& exit_code);
void add_modes_command(CLI::App& app, int& exit_code);
void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace penstock::bench
