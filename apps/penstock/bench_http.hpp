#pragma once

#include <CLI/CLI.hpp>

namespace penstock::app {

// Adds `http` to the subcommands of `penstock bench`.
void add_http_bench(CLI::App& bench, int& exit_code);

}  // namespace penstock::app
