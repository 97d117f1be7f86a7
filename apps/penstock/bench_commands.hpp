#pragma once

#include <CLI/CLI.hpp>

namespace penstock::app {

// Add `http`, `grpc`, `resp` and `modes` to the subcommands of `penstock bench`.
void add_http_bench(CLI::App& bench, int& exit_code);
void add_grpc_bench(CLI::App& bench, int& exit_code);
void add_resp_bench(CLI::App& bench, int& exit_code);
void add_modes_bench(CLI::App& bench, int& exit_code);

}  // namespace penstock::app
