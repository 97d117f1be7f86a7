#include "core/human_duration.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace penstock::core {
namespace {

using namespace std::chrono_literals;

TEST(RoundedUp, UsesUnitsThatPeopleUse) {
  EXPECT_EQ(rounded_up(0s), "0 s");
  EXPECT_EQ(rounded_up(250us), "250 µs");
  EXPECT_EQ(rounded_up(250ms), "250 ms");
  EXPECT_EQ(rounded_up(1500ms), "1.5 s");
  EXPECT_EQ(rounded_up(36s), "36 s");
  EXPECT_EQ(rounded_up(96s), "1 min 36 s");
  EXPECT_EQ(rounded_up(2h), "2 h");
  EXPECT_EQ(rounded_up(Days{3} + 4h), "3 d 4 h");
}

TEST(RoundedUp, NeverTellsLessThanTheWait) {
  EXPECT_EQ(rounded_up(1ms + 1us), "2 ms");
  EXPECT_EQ(rounded_up(999ms + 1us), "1 s");
  EXPECT_EQ(rounded_up(12s + 1us), "12.1 s");
  EXPECT_EQ(rounded_up(60s - 1us), "1 min");
  EXPECT_EQ(rounded_up(1h - 1us), "1 h");
  EXPECT_EQ(rounded_up(Days{1} - 1us), "1 d");
  EXPECT_EQ(rounded_up(Days{1} + 1us), "1 d 1 h");
}

TEST(Exactly, TakesTheLargestUnitThatDivides) {
  EXPECT_EQ(exactly(10s), "10 s");
  EXPECT_EQ(exactly(90s), "90 s");
  EXPECT_EQ(exactly(1min), "1 min");
  EXPECT_EQ(exactly(1500ms), "1500 ms");
  EXPECT_EQ(exactly(Days{366}), "366 d");
}

TEST(RulerLabel, KeepsTheUnitOfTheStep) {
  EXPECT_EQ(ruler_label(0s, 2s), "0");
  EXPECT_EQ(ruler_label(-2s, 2s), "-2s");
  EXPECT_EQ(ruler_label(60s, 12s), "+60s");
  EXPECT_EQ(ruler_label(288min, 288min), "+4.8h");
  EXPECT_EQ(ruler_label(-200us, 200us), "-200µs");
}

}  // namespace
}  // namespace penstock::core
