#pragma once

#include "bench/wire_load.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

// The command line of the benchmarks of all listeners.
namespace penstock::bench {

struct WireArguments {
  std::vector<std::string> servers{};
  std::string distribution = "uniform";
  std::string time = "5s";
  int server_pid = 0;
  bool json = false;
  WireLoad load{};
};

void add_wire_options(CLI::App& command, WireArguments& arguments);

// The load without its quota.
[[nodiscard]] Result<WireLoad> read_wire_load(const WireArguments& arguments);

// The requests of a run.
struct WireRequestSpec {
  std::string endpoint;  // "take"
  MakeProtocol protocol;
};

// Runs the load and prints a table or JSON.
[[nodiscard]] Result<void> run_wire_bench(const WireArguments& arguments, const WireLoad& load,
                                          const WireRequestSpec& request_spec);

}  // namespace penstock::bench
