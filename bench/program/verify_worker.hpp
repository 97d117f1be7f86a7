#pragma once

#include "apps/command_line/arguments.hpp"
#include "penstock/result.hpp"

#include <string>

namespace penstock::bench {

// Arguments of `penstock-bench verify` and of its workers.
struct VerifyArguments {
  app::StoreArguments store;
  std::string processes = "4";
  std::string threads = "8";
  std::string seconds = "5";
  std::string algorithm = "all";
  std::string seed = "1";
  std::string mode = "exact";
  std::string lifetime = "100ms";
  std::string demand = "full";
  bool json = false;
};

// The hidden subcommand of the processes that `penstock-bench verify` starts.
inline constexpr const char* kVerifyWorker = "verify-worker";

// Runs the load and prints its counts as JSON: an array of cases, by key.
[[nodiscard]] Result<int> run_verify_worker(const VerifyArguments& arguments);

}  // namespace penstock::bench
