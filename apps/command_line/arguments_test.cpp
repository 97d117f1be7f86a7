#include "apps/command_line/arguments.hpp"

#include <gtest/gtest.h>

namespace penstock::app {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Result<Duration> read(std::string_view text) {
  return parse_duration("--for", text, milliseconds{1}, Days{365});
}

TEST(DurationArgument, ReadsEveryUnit) {
  EXPECT_EQ(read("250ms").value(), milliseconds{250});
  EXPECT_EQ(read("1s").value(), seconds{1});
  EXPECT_EQ(read("10m").value(), minutes{10});
  EXPECT_EQ(read("2h").value(), hours{2});
  EXPECT_EQ(read("365d").value(), Days{365});
}

TEST(DurationArgument, RejectsAnInvalidDurationAndNamesIt) {
  for (const char* text :
       {"", "10", "m", "-1s", "1.5s", "1 s", "10x", "0s", "366d", "99999999999999999d", "1w"}) {
    const Result<Duration> duration = read(text);
    ASSERT_FALSE(duration.has_value()) << text;
    EXPECT_NE(duration.error().detail.find("--for \"" + std::string(text) + "\""),
              std::string::npos);
  }
}

}  // namespace
}  // namespace penstock::app
