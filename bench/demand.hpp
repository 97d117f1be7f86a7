#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// When requests come, and what an exact limiter admits of them.
namespace penstock::bench {

using SteadyTime = std::chrono::steady_clock::time_point;

[[nodiscard]] inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

enum class Demand : std::uint8_t {
  Full,    // as many as can be
  Steady,  // one turn of each thread every 5 ms
  Bursty,  // 20 ms of every 100 ms
  Idle,    // 50 ms of every 600 ms, longer apart than a lease lasts
};

[[nodiscard]] std::string_view to_string(Demand demand) noexcept;
[[nodiscard]] std::optional<Demand> parse_demand(std::string_view text) noexcept;

// How long to wait before the next turn. Threads of all processes of a machine come and rest at the
// same moments. A thread that wakes up late still has one turn in each cycle.
[[nodiscard]] std::chrono::nanoseconds pause_before(Demand demand, SteadyTime last_turn,
                                                    SteadyTime now) noexcept;

// A run this long contains at least one whole cycle, and so at least one request.
[[nodiscard]] std::chrono::milliseconds two_cycles(Demand demand) noexcept;

// How many requests came for which key and when, in steps of time.
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

// What one exact limiter would admit of this demand; of each key by itself. `to_store_clock` is
// what the store's clock shows when the steady clock shows zero.
[[nodiscard]] std::uint64_t admitted_exactly(const Quota& quota,
                                             std::span<const DemandLog::Entry> demand,
                                             Instant to_store_clock);

}  // namespace penstock::bench
