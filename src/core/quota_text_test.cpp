#include "penstock/quota.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace penstock {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Quota parsed(std::string_view text) {
  const Result<Quota> quota = Quota::parse(text);
  EXPECT_TRUE(quota.has_value()) << (quota ? "" : quota.error().detail);
  return quota ? *quota : Quota{per_second(1)};
}

std::string error_of(std::string_view text) {
  const Result<Quota> quota = Quota::parse(text);
  return quota ? "accepted as " + to_string(*quota) : quota.error().detail;
}

TEST(QuotaText, ReadsALimitAndAUnit) {
  EXPECT_EQ(parsed("100/s"), Quota{per_second(100)});
  EXPECT_EQ(parsed("600/minute"), Quota{per_minute(600)});
  EXPECT_EQ(parsed("1000000/day"), Quota{per_day(1'000'000)});
  EXPECT_EQ(parsed("1_000_000/day"), Quota{per_day(1'000'000)});
}

TEST(QuotaText, ReadsPeriodsOfSeveralUnits) {
  EXPECT_EQ(parsed("30/30s"), Quota{per(30, seconds{30})});
  EXPECT_EQ(parsed("5000/5m"), Quota{per(5'000, minutes{5})});
  EXPECT_EQ(parsed("7/250ms"), Quota{per(7, milliseconds{250})});
  EXPECT_EQ(parsed("7/2 weeks"), Quota{per(7, Days{14})});
}

TEST(QuotaText, KnowsEveryUnitShortAndLong) {
  for (const char* unit : {"ms", "millisecond", "milliseconds"}) {
    EXPECT_EQ(parsed(std::string("3/20") + unit), Quota{per(3, milliseconds{20})}) << unit;
  }
  for (const char* unit : {"s", "sec", "second", "seconds"}) {
    EXPECT_EQ(parsed(std::string("3/20") + unit), Quota{per(3, seconds{20})}) << unit;
  }
  for (const char* unit : {"m", "min", "minute", "minutes"}) {
    EXPECT_EQ(parsed(std::string("3/20") + unit), Quota{per(3, minutes{20})}) << unit;
  }
  for (const char* unit : {"h", "hour", "hours"}) {
    EXPECT_EQ(parsed(std::string("3/20") + unit), Quota{per(3, hours{20})}) << unit;
  }
  for (const char* unit : {"d", "day", "days"}) {
    EXPECT_EQ(parsed(std::string("3/20") + unit), Quota{per(3, Days{20})}) << unit;
  }
  for (const char* unit : {"w", "week", "weeks"}) {
    EXPECT_EQ(parsed(std::string("3/20") + unit), Quota{per(3, Days{140})}) << unit;
  }
}

TEST(QuotaText, ReadsABurst) {
  EXPECT_EQ(parsed("100/s burst 20"), Quota{per_second(100).burst(20)});
  EXPECT_EQ(parsed("10/s burst:5"), Quota{per_second(10).burst(5)});
  EXPECT_EQ(parsed("10/s burst=5"), Quota{per_second(10).burst(5)});
  EXPECT_EQ(parsed("10/s burst 1_000"), Quota{per_second(10).burst(1'000)});
}

TEST(QuotaText, ReadsAnAlgorithm) {
  EXPECT_EQ(parsed("100 per hour gcra"), Quota{per_hour(100).gcra()});
  EXPECT_EQ(parsed("60/m sub_windows 6"), Quota{per_minute(60).sub_windows(6)});
  EXPECT_EQ(parsed("60/m sub_windows:6"), Quota{per_minute(60).sub_windows(6)});
  EXPECT_EQ(parsed("60/m sub_windows"), Quota{per_minute(60).sub_windows()});
  EXPECT_EQ(parsed("60/m sliding_log"), Quota{per_minute(60).sliding_log()});
  EXPECT_EQ(parsed("60/m token_bucket"), Quota{per_minute(60)});
}

TEST(QuotaText, TakesOptionsInAnyOrder) {
  EXPECT_EQ(parsed("100/m burst 20 gcra"), Quota{per_minute(100).burst(20).gcra()});
  EXPECT_EQ(parsed("100/m gcra burst 20"), Quota{per_minute(100).burst(20).gcra()});
}

TEST(QuotaText, DoesNotMindBlanks) {
  EXPECT_EQ(parsed("  100 / 30 s\tburst  :  20  "), Quota{per(100, seconds{30}).burst(20)});
  EXPECT_EQ(parsed("100per 2h"), Quota{per(100, hours{2})});
}

TEST(QuotaText, PointsAtTheColumnThatIsWrong) {
  EXPECT_EQ(error_of(""), "\"\", column 1: expected a limit such as 100, found the end");
  EXPECT_EQ(error_of("fast"), "\"fast\", column 1: expected a limit such as 100, found \"fast\"");
  EXPECT_EQ(error_of("100"),
            "\"100\", column 4: expected \"/\" and a period, as in 100/minute, found the end");
  EXPECT_EQ(error_of("100 s"),
            "\"100 s\", column 5: expected \"/\" and a period, as in 100/minute, found \"s\"");
  EXPECT_EQ(error_of("100/"),
            "\"100/\", column 5: expected a unit: ms, s, m, h, d or w, found the end");
  EXPECT_EQ(error_of("100/30"),
            "\"100/30\", column 7: expected a unit: ms, s, m, h, d or w, found the end");
  EXPECT_EQ(error_of("100/s bursts"),
            "\"100/s bursts\", column 7: expected burst or an algorithm such as sliding_log, found "
            "\"bursts\"");
  EXPECT_EQ(error_of("100/s burst"),
            "\"100/s burst\", column 12: expected a number after burst, found the end");
  EXPECT_EQ(error_of("100/s burst x"),
            "\"100/s burst x\", column 13: expected a number after burst, found \"x\"");
  EXPECT_EQ(
      error_of("100/s sub_windows:"),
      "\"100/s sub_windows:\", column 19: expected a number after sub_windows, found the end");
  EXPECT_EQ(error_of("100/s, burst 5"),
            "\"100/s, burst 5\", column 6: expected burst or an algorithm such as sliding_log, "
            "found \", burst 5\"");
}

TEST(QuotaText, RejectsUnitsWithoutAFixedLength) {
  EXPECT_EQ(
      error_of("5/month"),
      "\"5/month\", column 3: a \"month\" has no fixed length; write days, as in 30d or 365d");
  EXPECT_EQ(
      error_of("5/2 years"),
      "\"5/2 years\", column 5: a \"years\" has no fixed length; write days, as in 30d or 365d");
  EXPECT_EQ(error_of("5/us"), "\"5/us\", column 3: unknown unit \"us\"; use ms, s, m, h, d or w");
  EXPECT_EQ(error_of("5/S"), "\"5/S\", column 3: unknown unit \"S\"; use ms, s, m, h, d or w");
}

TEST(QuotaText, RejectsNumbersThatDoNotFit) {
  EXPECT_EQ(error_of("99999999999999999999/s"),
            "\"99999999999999999999/s\", column 1: number 99999999999999999999 is too large");
  EXPECT_EQ(error_of("1/99999999999999999999s"),
            "\"1/99999999999999999999s\", column 3: number 99999999999999999999 is too large");
  EXPECT_NE(error_of("1/9223372036854775807w").find("too large"), std::string::npos);
}

// Multiplied by their unit, these would wrap around to a valid period.
TEST(QuotaText, RejectsNegativePeriodsHoweverLarge) {
  for (const char* text : {"1/-1s", "1/-9223372036854775808s", "1/-9223372036854775807w",
                           "1/-239807672958224171s", "1/-2305843009213693951ms"}) {
    EXPECT_EQ(error_of(text).find("accepted"), std::string::npos) << error_of(text);
  }
}

TEST(QuotaText, RejectsUnderscoresThatSeparateNothing) {
  for (const char* text : {"_100/s", "100_/s", "1__0/s", "-_5/s", "100/s burst 5_"}) {
    EXPECT_EQ(error_of(text).find("accepted"), std::string::npos) << error_of(text);
  }
}

TEST(QuotaText, RejectsAnOptionThatIsGivenTwice) {
  EXPECT_EQ(error_of("10/s burst 5 burst 6"),
            "\"10/s burst 5 burst 6\", column 14: a second burst");
  EXPECT_EQ(error_of("10/s gcra token_bucket"),
            "\"10/s gcra token_bucket\", column 11: a second algorithm");
}

TEST(QuotaText, NamesTheValueAndTheReasonWhenTheQuotaIsInvalid) {
  EXPECT_EQ(error_of("0/s"), "\"0/s\": limit 0 must be at least 1");
  EXPECT_EQ(error_of("-5/s"), "\"-5/s\": limit -5 must be at least 1");
  EXPECT_EQ(error_of("5/s burst 0"), "\"5/s burst 0\": burst 0 must be at least 1");
  EXPECT_EQ(error_of("5/0s"), "\"5/0s\": period 0 us is below the least, 1 ms");
  EXPECT_EQ(error_of("5/367d"), "\"5/367d\": period 31708800000000 us is above the most, 366 days");
  EXPECT_EQ(
      error_of("5/s burst 3 sliding_log"),
      "\"5/s burst 3 sliding_log\": burst 3 has no meaning for sliding_log; only token_bucket and "
      "gcra have a burst");
}

TEST(QuotaText, WritesTheShortestText) {
  EXPECT_EQ(to_string(Quota{per_second(100)}), "100/s");
  EXPECT_EQ(to_string(Quota{per(100, seconds{60})}), "100/m");
  EXPECT_EQ(to_string(Quota{per(100, seconds{90})}), "100/90s");
  EXPECT_EQ(to_string(Quota{per(100, milliseconds{1'500})}), "100/1500ms");
  EXPECT_EQ(to_string(Quota{per_day(100)}), "100/d");
  EXPECT_EQ(to_string(Quota{per(100, Days{14})}), "100/2w");
  EXPECT_EQ(to_string(Quota{per_minute(100).burst(20).gcra()}), "100/m burst 20 gcra");
  EXPECT_EQ(to_string(Quota{per_minute(100).burst(100)}), "100/m");
  EXPECT_EQ(to_string(Quota{per_minute(60).sub_windows(6)}), "60/m sub_windows 6");
  EXPECT_EQ(to_string(Quota{per_minute(60).sub_windows(20)}), "60/m sub_windows");
}

TEST(QuotaText, WhatIsWrittenReadsBackTheSame) {
  for (const Algorithm algorithm :
       {Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::AnchoredWindow,
        Algorithm::SlidingLog, Algorithm::SlidingCounter, Algorithm::SubWindows}) {
    for (const std::int64_t limit : {1, 7, 10'000}) {
      for (const Duration period :
           {Duration{1'000}, Duration{1'500'000}, Duration{minutes{7}}, Duration{Days{366}}}) {
        const Quota quota = Quota::make(per(limit, period).with(algorithm)).value();
        EXPECT_EQ(parsed(to_string(quota)), quota) << to_string(quota);
      }
    }
  }
}

}  // namespace
}  // namespace penstock
