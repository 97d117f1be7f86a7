#include "penstock/quota.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace penstock {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string error_of(const QuotaSpec& spec) {
  const Result<Quota> quota = Quota::make(spec);
  if (quota) return "accepted";
  EXPECT_EQ(quota.error().code, ErrorCode::InvalidInput);
  return quota.error().detail;
}

TEST(Quota, ReadsLikeTheSentenceItStandsFor) {
  constexpr Quota kQuota = per_minute(100).burst(20);
  EXPECT_EQ(kQuota.algorithm(), Algorithm::TokenBucket);
  EXPECT_EQ(kQuota.limit(), 100U);
  EXPECT_EQ(kQuota.period(), minutes{1});
  EXPECT_EQ(kQuota.capacity(), 20U);
  EXPECT_TRUE(kQuota.is_bucket());
}

TEST(Quota, CapacityIsTheLimitUnlessABurstIsGiven) {
  EXPECT_EQ(Quota{per_second(7)}.capacity(), 7U);
  EXPECT_EQ(Quota{per_second(7).burst(3)}.capacity(), 3U);
  EXPECT_EQ(Quota{per_second(7).burst(30)}.capacity(), 30U);
  EXPECT_EQ(Quota{per_second(7).sliding_log()}.capacity(), 7U);
}

TEST(Quota, NoneAllowsNothingInAPeriod) {
  constexpr Quota kNone = Quota::none(hours{1});
  EXPECT_TRUE(kNone.is_none());
  EXPECT_EQ(kNone.limit(), 0U);
  EXPECT_EQ(kNone.capacity(), 0U);
  EXPECT_EQ(kNone.period(), hours{1});
  EXPECT_EQ(to_string(kNone), "0/h fixed_window");
  EXPECT_EQ(kNone, Quota::none(hours{1}));
  EXPECT_FALSE(kNone == Quota::none(hours{2}));
  EXPECT_FALSE(Quota{per_hour(1)}.is_none());
  EXPECT_FALSE(Quota::parse("0/h fixed_window").has_value()) << "only Envoy's formats have it";
}

TEST(Quota, HasTheUsualPeriods) {
  EXPECT_EQ(Quota{per_second(1)}.period(), seconds{1});
  EXPECT_EQ(Quota{per_minute(1)}.period(), minutes{1});
  EXPECT_EQ(Quota{per_hour(1)}.period(), hours{1});
  EXPECT_EQ(Quota{per_day(1)}.period(), hours{24});
  EXPECT_EQ(Quota{per(1, milliseconds{250})}.period(), milliseconds{250});
}

TEST(Quota, SubWindowCountBelongsToSubWindowsOnly) {
  EXPECT_EQ(Quota{per_minute(5).sub_windows()}.sub_window_count(), 20U);
  EXPECT_EQ(Quota{per_minute(5).sub_windows(6)}.sub_window_count(), 6U);
  EXPECT_EQ(Quota{per_minute(5).fixed_window()}.sub_window_count(), 0U);
}

TEST(Quota, RateIsInLowestTerms) {
  constexpr Quota kQuota = per_minute(100).burst(20);
  EXPECT_EQ(kQuota.rate_units(), 1U);
  EXPECT_EQ(kQuota.token_units(), 600'000U);
  EXPECT_EQ(kQuota.token_time(), (ExactSpan{.whole = 600'000, .part = 0}));
  EXPECT_EQ(kQuota.fill_time(), (ExactSpan{.whole = 12'000'000, .part = 0}));
}

TEST(Quota, TimesThatAreNotWholeMicrosecondsKeepTheirFraction) {
  constexpr Quota kQuota = per_second(600'000).burst(4);
  EXPECT_EQ(kQuota.rate_units(), 3U);
  EXPECT_EQ(kQuota.token_units(), 5U);
  EXPECT_EQ(kQuota.token_time(), (ExactSpan{.whole = 1, .part = 2}));
  EXPECT_EQ(kQuota.time_for(3), (ExactSpan{.whole = 5, .part = 0}));
  EXPECT_EQ(kQuota.fill_time(), (ExactSpan{.whole = 6, .part = 2}));
}

TEST(Quota, RejectsLimitsOutOfRange) {
  EXPECT_EQ(error_of(per_second(0)), "limit 0 must be at least 1");
  EXPECT_EQ(error_of(per_second(-5)), "limit -5 must be at least 1");
  EXPECT_EQ(error_of(per_second(1'000'000'001)), "limit 1000000001 is above the most, 1000000000");
  EXPECT_EQ(error_of(per_second(1'000'000'000)), "accepted");
}

TEST(Quota, RejectsPeriodsOutOfRange) {
  EXPECT_EQ(error_of(per(1, Duration{999})), "period 999 us is below the least, 1 ms");
  EXPECT_EQ(error_of(per(1, Duration{0})), "period 0 us is below the least, 1 ms");
  EXPECT_EQ(error_of(per(1, -seconds{1})), "period -1000000 us is below the least, 1 ms");
  EXPECT_EQ(error_of(per(1, Days{366} + milliseconds{1})),
            "period 31622400001000 us is above the most, 366 days");
  EXPECT_EQ(error_of(per(1, Duration{1'001})),
            "period 1001 us is not a whole number of milliseconds");
  EXPECT_EQ(error_of(per(1, milliseconds{1})), "accepted");
  EXPECT_EQ(error_of(per(1, Days{366})), "accepted");
}

TEST(Quota, RejectsBurstsOutOfRange) {
  EXPECT_EQ(error_of(per_second(1).burst(0)), "burst 0 must be at least 1");
  EXPECT_EQ(error_of(per_second(1).burst(-1)), "burst -1 must be at least 1");
  EXPECT_EQ(error_of(per_second(1).burst(1'000'000'001)),
            "burst 1000000001 is above the most, 1000000000");
  EXPECT_EQ(error_of(per_second(1).burst(1'000'000'000).gcra()), "accepted");
}

TEST(Quota, RejectsABurstWhereItHasNoMeaning) {
  EXPECT_EQ(error_of(per_second(10).burst(5).fixed_window()),
            "burst 5 has no meaning for fixed_window; only token_bucket and gcra have a burst");
  EXPECT_EQ(error_of(per_second(10).burst(10).sliding_log()),
            "burst 10 has no meaning for sliding_log; only token_bucket and gcra have a burst");
}

TEST(Quota, RejectsABucketThatTakesACenturyToRefill) {
  EXPECT_EQ(error_of(per(1, Days{365}).burst(101)),
            "burst 101 at 1 per 31536000000000 us takes more than 100 years to refill");
  EXPECT_EQ(error_of(per(1, Days{365}).burst(100)), "accepted");
  EXPECT_EQ(error_of(per(1, Days{366}).burst(1'000'000'000)),
            "burst 1000000000 at 1 per 31622400000000 us takes more than 100 years to refill");
  EXPECT_EQ(error_of(per(1, Days{36'525} / 100).burst(100)), "accepted") << "exactly 100 years";
}

TEST(Quota, RejectsALogThatRemembersTooMuchAndSaysWhatToUseInstead) {
  EXPECT_EQ(error_of(per_day(10'001).sliding_log()),
            "limit 10001 is above the most for sliding_log, 10000, which remembers every request; "
            "sub_windows gives the same guarantee for any limit");
  EXPECT_EQ(error_of(per_day(10'000).sliding_log()), "accepted");
}

TEST(Quota, RejectsSubWindowsThatDoNotWork) {
  EXPECT_EQ(error_of(per_minute(10).sub_windows(1)), "sub_windows 1 must be at least 2");
  EXPECT_EQ(error_of(per_minute(10).sub_windows(101)), "sub_windows 101 is above the most, 100");
  EXPECT_EQ(error_of(per_second(10).sub_windows(7)),
            "sub_windows 7 does not divide the period, 1000000 us, into whole microseconds");
  EXPECT_EQ(error_of(per_second(10).sub_windows(64)), "accepted");
}

TEST(Quota, SurvivesNumbersAtTheEdgeOfTheirType) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t wild : {kMax, kMin}) {
    EXPECT_NE(error_of(per_second(wild)), "accepted");
    EXPECT_NE(error_of(per(1, Duration{wild})), "accepted");
    EXPECT_NE(error_of(per_second(1).burst(wild)), "accepted");
    EXPECT_NE(error_of(per_second(1).sub_windows(wild)), "accepted");
  }
}

TEST(Quota, DiffersWhenAnythingDiffers) {
  const std::vector<Quota> quotas{
      Quota{per_minute(10)},
      Quota{per_minute(11)},
      Quota{per_minute(10).burst(11)},
      Quota{per_second(10)},
      Quota{per_minute(10).gcra()},
      Quota{per_minute(10).fixed_window()},
      Quota{per_minute(10).anchored_window()},
      Quota{per_minute(10).sliding_log()},
      Quota{per_minute(10).sliding_counter()},
      Quota{per_minute(10).sub_windows()},
      Quota{per_minute(10).sub_windows(10)},
  };
  for (std::size_t one = 0; one < quotas.size(); ++one) {
    for (std::size_t other = 0; other < quotas.size(); ++other) {
      EXPECT_EQ(quotas[one] == quotas[other], one == other)
          << to_string(quotas[one]) << ", " << to_string(quotas[other]);
    }
  }
}

TEST(Quota, TheSameRateInOtherNumbersIsAnotherQuota) {
  EXPECT_FALSE(Quota{per_second(10).burst(5)} == Quota{per(20, seconds{2}).burst(5)});
}

TEST(Algorithm, HasANameThatParses) {
  for (const Algorithm algorithm :
       {Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::AnchoredWindow,
        Algorithm::SlidingLog, Algorithm::SlidingCounter, Algorithm::SubWindows}) {
    const Result<Algorithm> parsed = parse_algorithm(to_string(algorithm));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(*parsed, algorithm);
  }
}

TEST(Algorithm, AnUnknownNameIsRejectedWithTheKnownOnes) {
  const Result<Algorithm> parsed = parse_algorithm("leaky");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(
      parsed.error().detail,
      "unknown algorithm \"leaky\"; use one of token_bucket, gcra, fixed_window, anchored_window, "
      "sliding_log, sliding_counter, sub_windows");
}

}  // namespace
}  // namespace penstock
