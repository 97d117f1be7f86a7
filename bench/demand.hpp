#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// Patterns of demand, and the admissions of an exact limiter.
namespace penstock::bench {

using SteadyTime = std::chrono::steady_clock::time_point;

[[nodiscard]] inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

enum class Demand : std::uint8_t {
  Full,    // continuous
  Steady,  // one batch per thread every 5 ms
  Bursty,  // 20 ms of every 100 ms
  Idle,    // 50 ms of every 600 ms: the pause exceeds the lifetime of a lease
};

[[nodiscard]] std::string_view to_string(Demand demand) noexcept;
[[nodiscard]] std::optional<Demand> parse_demand(std::string_view text) noexcept;

// The pause before the next batch. Threads of all processes on a machine are in phase. A thread
// that wakes up late still sends one batch per cycle.
[[nodiscard]] std::chrono::nanoseconds pause_before(Demand demand, SteadyTime last_turn,
                                                    SteadyTime now) noexcept;

// A run this long contains at least one whole cycle, and so at least one request.
[[nodiscard]] std::chrono::milliseconds two_cycles(Demand demand) noexcept;

// Requests per key and time step.
class DemandLog {
 public:
  static constexpr std::chrono::milliseconds kStep{10};

  struct Entry {
    std::int64_t step = 0;  // of the steady clock
    std::uint32_t key = 0;
    std::uint32_t requests = 0;
  };

  explicit DemandLog(std::size_t keys) : requests_(keys) {}

  // REQUIRES: time goes forward.
  void note(std::uint32_t key, SteadyTime now);
  [[nodiscard]] std::vector<Entry> take();

 private:
  void close_step();

  std::int64_t step_ = 0;
  std::vector<std::uint32_t> requests_;  // in this step, by key
  std::vector<std::uint32_t> touched_;
  std::vector<Entry> entries_;
};

// The admissions of an exact limiter for this demand, per key. `to_store_clock` is the time of the
// store when the steady clock is zero.
[[nodiscard]] std::uint64_t admitted_exactly(const Quota& quota,
                                             std::span<const DemandLog::Entry> demand,
                                             Instant to_store_clock);

}  // namespace penstock::bench
