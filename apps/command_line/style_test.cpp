#include "apps/command_line/style.hpp"

#include <gtest/gtest.h>

namespace penstock::app {
namespace {

TEST(Style, PaintsAndEndsPlain) {
  EXPECT_EQ(paint("denied", Style::Bad, Colour::Always), "\x1b[0;1;31mdenied\x1b[0m");
  EXPECT_EQ(paint("name", Style::Plain, Colour::Always), "name");
}

TEST(Style, MarksOutcomesWithSymbols) {
  EXPECT_EQ(mark("allowed", Style::Good, Colour::Always), "\x1b[0;32m✓ allowed\x1b[0m");
  EXPECT_EQ(mark("denied", Style::Bad, Colour::Always), "\x1b[0;1;31m✗ denied\x1b[0m");
  EXPECT_EQ(mark("warning", Style::Mixed, Colour::Always), "\x1b[0;33m! warning\x1b[0m");
}

TEST(Style, ChangesNothingWithoutColours) {
  EXPECT_EQ(paint("denied", Style::Bad, Colour::Never), "denied");
  EXPECT_EQ(mark("denied", Style::Bad, Colour::Never), "denied");
}

}  // namespace
}  // namespace penstock::app
