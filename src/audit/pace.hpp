#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::audit {

// Holds back whoever walks over a server that others use: at most so many per second.
class Pace {
 public:
  // Zero is without limit.
  explicit Pace(std::uint64_t per_second);

  // Waits until this many more may be done.
  void wait_for(std::uint64_t count);

 private:
  std::uint64_t per_second_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace penstock::audit
