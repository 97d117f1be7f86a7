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

// Processor time that another process has used so far; empty when there is none of this number.
[[nodiscard]] std::optional<std::chrono::nanoseconds> process_cpu_time(int pid);

// Memory of this process that is really there.
[[nodiscard]] std::uint64_t resident_bytes();

// The value below which this share of the samples lies; zero when there are none.
[[nodiscard]] std::chrono::nanoseconds percentile(std::vector<std::chrono::nanoseconds> samples,
                                                  double share);

}  // namespace penstock::bench
