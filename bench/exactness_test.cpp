#include "bench/exactness.hpp"

#include <gtest/gtest.h>

namespace penstock::bench {
namespace {

const ExactnessCase kTwoKeys{.name = "two keys", .quota = per_day(10), .keys = 2};

constexpr Instant kNoon{Days{20'000} + std::chrono::hours{12}};
constexpr TimeSpan kFiveSeconds{.begin = kNoon, .end = kNoon + std::chrono::seconds{5}};

KeyCounts counts(std::vector<std::uint64_t> asked, std::vector<std::uint64_t> admitted) {
  KeyCounts counts(asked.size());
  counts.asked = std::move(asked);
  counts.admitted = std::move(admitted);
  return counts;
}

TEST(Exactness, IsExactWhenWhatFitsWasAdmittedAndNoMore) {
  const auto verdict = judge(kTwoKeys, counts({100, 7}, {10, 7}), kFiveSeconds);
  EXPECT_TRUE(verdict.is_exact());
  EXPECT_EQ(verdict.admitted, 17U);
  EXPECT_EQ(verdict.most, 20U);
}

TEST(Exactness, SeesOneTooMany) {
  const auto verdict = judge(kTwoKeys, counts({100, 7}, {11, 7}), kFiveSeconds);
  EXPECT_EQ(verdict.over_admitted, 1U);
  EXPECT_FALSE(verdict.is_exact());
}

TEST(Exactness, SeesOneThatWasRefusedAlthoughItFitted) {
  const auto verdict = judge(kTwoKeys, counts({100, 7}, {10, 6}), kFiveSeconds);
  EXPECT_EQ(verdict.under_admitted, 1U);
  EXPECT_FALSE(verdict.is_exact());
}

TEST(Exactness, GrantsThatAFailedQuestionMayHaveBeenAdmitted) {
  KeyCounts seen = counts({100, 7}, {9, 6});
  seen.failed = {1, 1};
  const auto verdict = judge(kTwoKeys, seen, kFiveSeconds);
  EXPECT_TRUE(verdict.is_exact());
  EXPECT_EQ(verdict.failed, 2U);
}

TEST(Exactness, CountsWhatRefilledMeanwhile) {
  const ExactnessCase refilling{.name = "refilling", .quota = per_second(10), .keys = 1};
  EXPECT_TRUE(judge(refilling, counts({500}, {60}), kFiveSeconds).is_exact());
  EXPECT_FALSE(judge(refilling, counts({500}, {61}), kFiveSeconds).is_exact());
}

TEST(Exactness, GrantsWindowsOnlyWhereTheyBegin) {
  ExactnessCase daily{.name = "daily", .quota = Quota::parse("10/d fixed_window").value()};
  EXPECT_TRUE(judge(daily, counts({50}, {10}), kFiveSeconds).is_exact());
  EXPECT_FALSE(judge(daily, counts({50}, {11}), kFiveSeconds).is_exact());
  const Instant midnight{Days{20'000}};
  const TimeSpan over_midnight{.begin = midnight - std::chrono::seconds{2},
                               .end = midnight + std::chrono::seconds{2}};
  EXPECT_TRUE(judge(daily, counts({50}, {20}), over_midnight).is_exact());
  daily.quota = Quota::parse("10/d anchored_window").value();
  EXPECT_FALSE(judge(daily, counts({50}, {11}), over_midnight).is_exact());
}

TEST(Exactness, HasCasesForEveryAlgorithm) {
  for (const Algorithm algorithm :
       {Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::AnchoredWindow,
        Algorithm::SlidingLog, Algorithm::SlidingCounter, Algorithm::SubWindows}) {
    EXPECT_EQ(exactness_cases(algorithm).size(), 4U);
  }
}

TEST(Exactness, AddsUpWhatProcessesSaw) {
  KeyCounts sum = counts({1, 2}, {1, 0});
  sum.add(counts({10, 20}, {5, 6}));
  EXPECT_EQ(sum.asked, (std::vector<std::uint64_t>{11, 22}));
  EXPECT_EQ(sum.admitted, (std::vector<std::uint64_t>{6, 6}));
}

}  // namespace
}  // namespace penstock::bench
