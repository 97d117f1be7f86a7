#include "core/exact_span.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

// A token takes 1 2/3 us; the divisor is 3.
constexpr Quota kThirds = per_second(600'000).burst(1'000'000'000);

TEST(ExactSpan, SumsCarry) {
  EXPECT_EQ(plus({1, 2}, {2, 2}, 3), (ExactSpan{4, 1}));
  EXPECT_EQ(plus({1, 1}, {2, 1}, 3), (ExactSpan{3, 2}));
  EXPECT_EQ(plus({1, 2}, {2, 1}, 3), (ExactSpan{4, 0}));
}

TEST(ExactSpan, DifferencesBorrow) {
  EXPECT_EQ(minus({4, 1}, {2, 2}, 3), (ExactSpan{1, 2}));
  EXPECT_EQ(minus({4, 2}, {2, 2}, 3), (ExactSpan{2, 0}));
  EXPECT_EQ(minus({4, 0}, {4, 0}, 3), ExactSpan{});
}

TEST(ExactSpan, LargestPartsDoNotOverflow) {
  constexpr std::uint32_t kDivisor = 1'000'000'000;
  EXPECT_EQ(plus({0, kDivisor - 1}, {0, kDivisor - 1}, kDivisor), (ExactSpan{1, kDivisor - 2}));
  EXPECT_EQ(minus({1, 0}, {0, kDivisor - 1}, kDivisor), (ExactSpan{0, 1}));
}

TEST(ExactSpan, ComparesByWholeThenPart) {
  EXPECT_LT((ExactSpan{1, 2}), (ExactSpan{2, 0}));
  EXPECT_LT((ExactSpan{1, 1}), (ExactSpan{1, 2}));
  EXPECT_EQ((ExactSpan{1, 1}), (ExactSpan{1, 1}));
}

TEST(ExactSpan, RoundsUpToMicroseconds) {
  EXPECT_EQ(ceil_micros({5, 0}), Duration{5});
  EXPECT_EQ(ceil_micros({5, 1}), Duration{6});
  EXPECT_EQ(ceil_micros({}), Duration{0});
}

TEST(ExactSpan, CountsWholeTokens) {
  EXPECT_EQ(tokens_in({1, 1}, kThirds), 0U);
  EXPECT_EQ(tokens_in({1, 2}, kThirds), 1U);
  EXPECT_EQ(tokens_in({5, 0}, kThirds), 3U);
  EXPECT_EQ(tokens_in({4, 2}, kThirds), 2U);
}

TEST(ExactSpan, CountsStartedTokens) {
  EXPECT_EQ(tokens_in_ceil({}, kThirds), 0U);
  EXPECT_EQ(tokens_in_ceil({0, 1}, kThirds), 1U);
  EXPECT_EQ(tokens_in_ceil({1, 2}, kThirds), 1U);
  EXPECT_EQ(tokens_in_ceil({2, 0}, kThirds), 2U);
}

TEST(ExactSpan, CountsTokensBeyond64BitsOfUnits) {
  constexpr Quota kWide = per(999'999'937, Days{366}).burst(1'000'000'000);
  const ExactSpan full = kWide.fill_time();
  EXPECT_GT(to_units(full, kWide), base::Wide{~std::uint64_t{0}});
  EXPECT_EQ(tokens_in(full, kWide), 1'000'000'000U);
  EXPECT_EQ(tokens_in_ceil(full, kWide), 1'000'000'000U);
  const ExactSpan a_hair_less = minus(full, {0, 1}, kWide.rate_units());
  EXPECT_EQ(tokens_in(a_hair_less, kWide), 999'999'999U);
  EXPECT_EQ(tokens_in_ceil(a_hair_less, kWide), 1'000'000'000U);
}

TEST(ExactSpan, CountsTokensWhereOnlyThePartLeaves64Bits) {
  constexpr Quota kWide = per(999'999'937, Days{366}).burst(1'000'000'000);
  const std::uint32_t divisor = kWide.rate_units();
  const auto whole = static_cast<std::int64_t>(~std::uint64_t{0} / divisor);
  const ExactSpan span{.whole = whole, .part = divisor - 1};
  ASSERT_GT(to_units(span, kWide), base::Wide{~std::uint64_t{0}});
  EXPECT_EQ(tokens_in(span, kWide), 583'344U);
}

TEST(ExactSpan, TheTimeForTokensIsTheSumOfTheirTimes) {
  ExactSpan sum;
  for (std::uint64_t tokens = 1; tokens <= 1'000; ++tokens) {
    sum = plus(sum, kThirds.token_time(), kThirds.rate_units());
    EXPECT_EQ(kThirds.time_for(tokens), sum);
  }
}

}  // namespace
}  // namespace penstock::core
