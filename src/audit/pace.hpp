#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::audit {

// Limits the rate of a scan over a shared server.
class Pace {
 public:
  // Zero: unlimited.
  explicit Pace(std::uint64_t per_second);

  // Blocks until `count` more are due.
  void wait_for(std::uint64_t count);

 private:
  std::uint64_t per_second_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace penstock::audit
