#include "bench/measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

namespace penstock::bench {

namespace {

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

std::chrono::nanoseconds thread_cpu_time() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

std::chrono::nanoseconds process_cpu_time() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::optional<std::chrono::nanoseconds> process_cpu_time(int pid) {
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0) return std::nullopt;
  return read_clock(clock);
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::chrono::nanoseconds percentile(std::vector<std::chrono::nanoseconds> samples, double share) {
  if (samples.empty()) return std::chrono::nanoseconds{0};
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1));
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

}  // namespace penstock::bench
