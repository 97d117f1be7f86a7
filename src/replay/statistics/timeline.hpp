#pragma once

#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::replay {

// Requests over time, in steps of equal length. The steps grow with the log, so that there are
// never more than kMaxSteps: from a second to a day by usual lengths, then doubled.
class Timeline {
 public:
  struct Step {
    std::uint64_t requests = 0;
    std::uint64_t denied = 0;
    std::uint64_t shadow_denied = 0;

    Step& operator+=(const Step& other) noexcept;
    friend bool operator==(const Step&, const Step&) = default;
  };
  static constexpr std::size_t kMaxSteps = 720;

  // REQUIRES: not before the first one.
  void add(Instant time, const Step& counts);

  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
  [[nodiscard]] Instant start() const noexcept { return start_; }
  [[nodiscard]] Duration width() const noexcept { return width_; }

  // The same in at most `most` steps, each a whole number of ours.
  struct Summary {
    std::vector<Step> steps;
    Duration width{};
  };
  [[nodiscard]] Summary summary(std::size_t most) const;

 private:
  void widen();

  std::vector<Step> steps_;
  Instant start_{};
  Duration width_ = std::chrono::seconds{1};
};

}  // namespace penstock::replay
