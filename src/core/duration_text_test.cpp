#include "core/duration_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

}  // namespace
}  // namespace penstock::core
