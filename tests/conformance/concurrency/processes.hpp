#pragma once

#include "penstock/shared_limiter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace penstock::conformance {

// Many processes with many threads each, on one Redis.
inline constexpr std::size_t kProcesses = 4;
inline constexpr std::size_t kThreads = 8;

// One thread of one process.
struct WorkerId {
  std::size_t process = 0;
  std::size_t thread = 0;
};

// The work of one thread: adds what was admitted to `admitted`, under indices of its choice. Throws
// on error.
using Work = std::function<void(SharedLimiter& limiter, WorkerId worker,
                                std::vector<std::uint32_t>& admitted)>;

// Runs `work` in every thread of every process, with one limiter per process, and returns the sums
// of what they admitted. Throws when one fails.
//
// REQUIRES: this process has no other thread, because it forks.
[[nodiscard]] std::vector<std::uint64_t> run_in_processes(const RedisOptions& options,
                                                          std::size_t numbers, const Work& work);

// Throws an error of the limiter.
[[nodiscard]] Decision must(const Result<Decision>& decision);

}  // namespace penstock::conformance
