#pragma once

#include "apps/penstock/pictures/svg.hpp"
#include "penstock/time.hpp"

#include <string>

namespace penstock::app {

// A horizontal time axis: instants to coordinates.
struct TimeAxis {
  int left = 0;
  int width = 0;
  Duration end{};  // from zero

  [[nodiscard]] int x(Duration at) const {
    return left + static_cast<int>(width * at.count() / end.count());
  }
  [[nodiscard]] int right() const { return left + width; }

  // Ticks with labels such as "10 s", and a line.
  void draw(Svg& svg, int y, Duration step) const;
};

// A step curve of values over the axis, filled down to its base line.
class StepCurve {
 public:
  // `unit` is the height of one unit.
  StepCurve(const TimeAxis& axis, int base, int unit) : axis_(axis), base_(base), unit_(unit) {}

  // REQUIRES: instants do not decrease.
  void add(Duration at, std::int64_t value);
  void draw(Svg& svg);

 private:
  TimeAxis axis_;
  int base_;
  int unit_;
  std::string data_{};
  std::int64_t last_ = 0;
};

}  // namespace penstock::app
