#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace penstock::bench {

// Processor time of the calling thread.
[[nodiscard]] std::chrono::nanoseconds thread_cpu_time();

// Processor time of all threads of this process.
[[nodiscard]] std::chrono::nanoseconds process_cpu_time();

// Processor time of another process; empty if there is no such process.
[[nodiscard]] std::optional<std::chrono::nanoseconds> process_cpu_time(int pid);

// Resident memory of this process.
[[nodiscard]] std::uint64_t resident_bytes();

// The percentile of the samples; zero without samples.
[[nodiscard]] std::chrono::nanoseconds percentile(std::vector<std::chrono::nanoseconds> samples,
                                                  double share);

}  // namespace penstock::bench
