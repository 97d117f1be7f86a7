#include "replay/format/log_time.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

namespace penstock::replay {
namespace {

std::optional<std::int64_t> micros(std::string_view text) {
  const std::optional<Instant> time = parse_log_time(text);
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}

constexpr std::int64_t kSecond = 1'791'640'536;  // 2026-10-10 13:55:36 UTC

TEST(LogTime, ReadsTheTimeOfNginxAndApache) {
  EXPECT_EQ(micros("10/Oct/2026:13:55:36 +0000"), kSecond * 1'000'000);
  EXPECT_EQ(micros("10/Oct/2026:15:55:36 +0200"), kSecond * 1'000'000);
  EXPECT_EQ(micros("10/Oct/2026:06:25:36 -0730"), kSecond * 1'000'000);
}

TEST(LogTime, ReadsRfc3339) {
  EXPECT_EQ(micros("2026-10-10T13:55:36Z"), kSecond * 1'000'000);
  EXPECT_EQ(micros("2026-10-10T15:55:36.25+02:00"), kSecond * 1'000'000 + 250'000);
  EXPECT_EQ(micros("2026-10-10 13:55:36"), kSecond * 1'000'000);
  EXPECT_EQ(micros("2026-10-10T13:55:36.123456789Z"), kSecond * 1'000'000 + 123'456);
}

TEST(LogTime, TellsTheUnitOfANumberByItsSize) {
  EXPECT_EQ(micros("1791640536"), kSecond * 1'000'000);
  EXPECT_EQ(micros("1791640536.5"), kSecond * 1'000'000 + 500'000);
  EXPECT_EQ(micros("1791640536123"), kSecond * 1'000'000 + 123'000);
  EXPECT_EQ(micros("1791640536123456"), kSecond * 1'000'000 + 123'456);
  EXPECT_EQ(micros("1791640536123456789"), kSecond * 1'000'000 + 123'456);
}

TEST(LogTime, RejectsWhatIsNotATime) {
  for (const std::string_view text :
       {"", "-", "yesterday", "10/Okt/2026:13:55:36 +0000", "32/Oct/2026:13:55:36 +0000",
        "10/Oct/2026:24:55:36 +0000", "10/Oct/2026:13:55:36", "10/Oct/2026:13:55:36 +0000 ",
        "2026-02-30T00:00:00Z", "2026-10-10T13:55:36+25:00", "2026-10-10", "1791640536,5", "-5",
        "99999999999999999999", "2300-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1e9"}) {
    EXPECT_EQ(micros(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace penstock::replay
