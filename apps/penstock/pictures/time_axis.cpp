#include "apps/penstock/pictures/time_axis.hpp"

#include "core/duration_text.hpp"

namespace penstock::app {

void TimeAxis::draw(Svg& svg, int y, Duration step) const {
  svg.line(left, y, right(), y, "axis");
  for (Duration at{0}; at <= end; at += step) {
    svg.line(x(at), y, x(at), y + 5, "axis");
    const std::string label = at == Duration{0} ? "0" : core::exact_text(at);
    svg.text(x(at), y + 19, label, "small", Svg::Anchor::Middle);
  }
}

void StepCurve::add(Duration at, std::int64_t value) {
  if (data_.empty()) {
    data_ = "M" + std::to_string(axis_.left) + " " + std::to_string(base_);
  }
  if (value == last_) return;
  const auto y = static_cast<int>(base_ - value * unit_);
  data_ += "H" + std::to_string(axis_.x(at)) + "V" + std::to_string(y);
  last_ = value;
}

void StepCurve::draw(Svg& svg) {
  data_ += "H" + std::to_string(axis_.right()) + "V" + std::to_string(base_) + "z";
  svg.path(data_, "level");
}

}  // namespace penstock::app
