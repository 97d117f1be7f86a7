#pragma once

#include "apps/penstock/demo/demo_scenario.hpp"
#include "apps/penstock/terminal/styled_line.hpp"

#include <span>
#include <string>

namespace penstock::app {

// The maximum width of a line.
inline constexpr std::size_t kPictureWidth = 100;

// A timeline for every row under a common ruler, with the busiest period marked and explained.
// REQUIRES: at least one row, all for the same limit and period.
[[nodiscard]] std::string draw_demo(std::span<const DemoRow> rows, Colour colour);

}  // namespace penstock::app
