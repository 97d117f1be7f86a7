#pragma once

#include "bench/wire_load.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

// What the benchmarks of all listeners share on the command line.
namespace penstock::bench {

// As typed.
struct WireArguments {
  std::vector<std::string> servers{};
  std::string distribution = "uniform";
  std::string time = "5s";
  int server_pid = 0;
  bool json = false;
  WireLoad load{};
};

void add_wire_options(CLI::App& command, WireArguments& arguments);

// The load that was typed, still without a quota.
[[nodiscard]] Result<WireLoad> read_wire_load(const WireArguments& arguments);

// What is asked, in the words of its protocol.
struct WireRequestSpec {
  std::string endpoint;  // "take"
  MakeProtocol protocol;
};

// Runs it, and prints a table or JSON.
[[nodiscard]] Result<void> run_wire_bench(const WireArguments& arguments, const WireLoad& load,
                                          const WireRequestSpec& request_spec);

}  // namespace penstock::bench
