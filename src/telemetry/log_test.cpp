#include "telemetry/log.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace penstock::telemetry {
namespace {

struct LogTest : ::testing::Test {
  [[nodiscard]] std::string take() {
    std::string text = out.str();
    out.str("");
    return text;
  }
  ManualClock clock{Instant{std::chrono::milliseconds{1'700'000'000'123}}};
  std::ostringstream out;
};

TEST_F(LogTest, WritesOneLineWithTheTimeOfItsClock) {
  Log log({.clock = &clock}, out);
  log.info("listening", {{"address", "127.0.0.1:80"}});
  EXPECT_EQ(take(), "2023-11-14T22:13:20.123Z info listening address=\"127.0.0.1:80\"\n");
}

TEST_F(LogTest, WritesJson) {
  Log log({.format = LogFormat::Json, .clock = &clock}, out);
  log.error("a \"bad\" line\n", {{"error", "\x01\xff"}});
  EXPECT_EQ(take(),
            R"({"time":"2023-11-14T22:13:20.123Z","level":"error","message":"a \"bad\" line\n",)"
            "\"error\":\"\\u0001\xef\xbf\xbd\"}\n");
}

TEST_F(LogTest, EscapesLineEnds) {
  Log log({.clock = &clock}, out);
  log.info("a\nb", {{"path", "/x\r\n2023 error fake"}});
  EXPECT_EQ(take(), "2023-11-14T22:13:20.123Z info a\\nb path=\"/x\\r\\n2023 error fake\"\n");
}

TEST_F(LogTest, DropsMessagesBelowItsLevel) {
  Log log({.level = LogLevel::Warning, .clock = &clock}, out);
  log.info("no");
  EXPECT_EQ(take(), "");
  log.use({.level = LogLevel::Debug});
  log.debug("yes");
  EXPECT_NE(take(), "");
}

TEST_F(LogTest, ChangesItsFormat) {
  Log log({.clock = &clock}, out);
  log.use({.format = LogFormat::Json});
  log.info("a");
  EXPECT_EQ(take(), R"({"time":"2023-11-14T22:13:20.123Z","level":"info","message":"a"})"
                    "\n");
}

TEST_F(LogTest, BoundsWarningsPerSecondAndReportsSuppressedOnes) {
  Log log({.clock = &clock}, out);
  Cell suppressed;
  RateLimitedLog limited(log, clock, suppressed, 2);
  for (int i = 0; i < 1236; ++i) limited.warning("trouble");
  EXPECT_EQ(take(),
            "2023-11-14T22:13:20.123Z warning trouble\n"
            "2023-11-14T22:13:20.123Z warning trouble\n");
  EXPECT_EQ(suppressed.get(), 1234);
  limited.tick();
  EXPECT_EQ(take(), "");
  clock.advance(std::chrono::seconds{1});
  limited.tick();
  EXPECT_EQ(take(), "2023-11-14T22:13:21.123Z warning … and 1234 more like these\n");
  limited.warning("again");
  EXPECT_EQ(take(), "2023-11-14T22:13:21.123Z warning again\n");
}

}  // namespace
}  // namespace penstock::telemetry
