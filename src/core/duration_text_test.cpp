#include "core/duration_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

namespace penstock::core {
namespace {

using std::chrono::milliseconds;

TEST(DurationText, ReadsEachUnit) {
  EXPECT_EQ(parse_duration("250ms"), milliseconds{250});
  EXPECT_EQ(parse_duration("10s"), std::chrono::seconds{10});
  EXPECT_EQ(parse_duration("5m"), std::chrono::minutes{5});
  EXPECT_EQ(parse_duration("2h"), std::chrono::hours{2});
  EXPECT_EQ(parse_duration("1d"), Days{1});
  EXPECT_EQ(parse_duration("0s"), Duration{0});
}

TEST(DurationText, RejectsEverythingElse) {
  for (const char* text : {"", "s", "10", "1.5s", "-1s", "-0s", "+1s", " 1s", "1 s", "1s ", "1S",
                           "1us", "1w", "9223372036854775807d", "99999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(DurationText, IsReadBackAsTheSame, (std::uint32_t count)) {
  const Duration duration = milliseconds{count};
  RC_ASSERT(parse_duration(duration_text(duration)) == duration);
}

using namespace std::chrono_literals;

TEST(RoundedUpText, UsesUnitsThatPeopleUse) {
  EXPECT_EQ(rounded_up_text(0s), "0 s");
  EXPECT_EQ(rounded_up_text(250us), "250 µs");
  EXPECT_EQ(rounded_up_text(250ms), "250 ms");
  EXPECT_EQ(rounded_up_text(1500ms), "1.5 s");
  EXPECT_EQ(rounded_up_text(36s), "36 s");
  EXPECT_EQ(rounded_up_text(96s), "1 min 36 s");
  EXPECT_EQ(rounded_up_text(2h), "2 h");
  EXPECT_EQ(rounded_up_text(Days{3} + 4h), "3 d 4 h");
}

TEST(RoundedUpText, NeverShowsLessThanTheWait) {
  EXPECT_EQ(rounded_up_text(1ms + 1us), "2 ms");
  EXPECT_EQ(rounded_up_text(999ms + 1us), "1 s");
  EXPECT_EQ(rounded_up_text(12s + 1us), "12.1 s");
  EXPECT_EQ(rounded_up_text(60s - 1us), "1 min");
  EXPECT_EQ(rounded_up_text(1h - 1us), "1 h");
  EXPECT_EQ(rounded_up_text(Days{1} - 1us), "1 d");
  EXPECT_EQ(rounded_up_text(Days{1} + 1us), "1 d 1 h");
}

TEST(ExactText, TakesTheLargestUnitThatDivides) {
  EXPECT_EQ(exact_text(10s), "10 s");
  EXPECT_EQ(exact_text(90s), "90 s");
  EXPECT_EQ(exact_text(1min), "1 min");
  EXPECT_EQ(exact_text(1500ms), "1500 ms");
  EXPECT_EQ(exact_text(Days{366}), "366 d");
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
