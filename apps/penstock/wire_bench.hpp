#pragma once

#include "bench/wire_load.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

// What the benchmarks of all listeners share on the command line.
namespace penstock::app {

// As typed.
struct WireArguments {
  std::vector<std::string> servers{};
  std::string distribution = "uniform";
  std::string time = "5s";
  int server_pid = 0;
  bool json = false;
  bench::WireLoad load{};
};

void add_wire_options(CLI::App& command, WireArguments& arguments);

// The load that was typed, still without a quota.
[[nodiscard]] Result<bench::WireLoad> read_wire_load(const WireArguments& arguments);

// What is asked, in the words of its protocol.
struct WireRequestSpec {
  std::string endpoint;  // "take"
  bench::MakeProtocol protocol;
};

// Runs it, and prints a table or JSON.
[[nodiscard]] Result<void> run_wire_bench(const WireArguments& arguments,
                                          const bench::WireLoad& load,
                                          const WireRequestSpec& request_spec);

// Runs `bench` when the command is given, and says what failed.
void on_wire_bench(CLI::App& command, int& exit_code, std::function<Result<void>()> bench);

}  // namespace penstock::app
