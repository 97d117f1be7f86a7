#include "bench/key_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace penstock::bench {
namespace {

KeyDistribution parsed(std::string_view text) { return KeyDistribution::parse(text).value(); }

std::vector<std::uint32_t> times_drawn(const std::vector<std::uint32_t>& drawn,
                                       std::uint32_t keys) {
  std::vector<std::uint32_t> times(keys);
  for (const std::uint32_t key : drawn) ++times[key];
  return times;
}

TEST(KeyDistribution, ParsesWhatItPrints) {
  for (const std::string text : {"uniform", "one", "zipf:0.99", "zipf:1", "zipf:2.5", "zipf:10"}) {
    EXPECT_EQ(to_string(parsed(text)), text);
  }
}

TEST(KeyDistribution, RejectsUnknownNamesAndQuotesThem) {
  for (const std::string text : {"", "Uniform", "zipf", "zipf:", "zipf:0", "zipf:-1", "zipf:11",
                                 "zipf:1x", "zipf:nan", "zipf:inf", "zipf: 1", "one "}) {
    const Result<KeyDistribution> result = KeyDistribution::parse(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
    EXPECT_NE(result.error().detail.find("\"" + text + "\""), std::string::npos)
        << result.error().detail;
  }
}

TEST(KeyDistribution, DrawsAsManyAsRequestedAndNoneBeyondTheKeys) {
  for (const std::string text : {"uniform", "one", "zipf:0.99"}) {
    for (const std::uint32_t keys : {1U, 2U, 1000U}) {
      const std::vector<std::uint32_t> drawn = draw_keys(parsed(text), keys, 5000, 1);
      EXPECT_EQ(drawn.size(), 5000U);
      EXPECT_LT(*std::max_element(drawn.begin(), drawn.end()), keys) << text;
    }
    EXPECT_TRUE(draw_keys(parsed(text), 10, 0, 1).empty());
  }
}

TEST(KeyDistribution, TheSameSeedDrawsTheSameKeys) {
  for (const std::string text : {"uniform", "zipf:0.99"}) {
    EXPECT_EQ(draw_keys(parsed(text), 1000, 100, 7), draw_keys(parsed(text), 1000, 100, 7));
    EXPECT_NE(draw_keys(parsed(text), 1000, 100, 7), draw_keys(parsed(text), 1000, 100, 8));
  }
}

TEST(KeyDistribution, UniformDrawsEachKeyAboutAsOften) {
  constexpr std::uint32_t kKeys = 100;
  const std::vector<std::uint32_t> times =
      times_drawn(draw_keys(parsed("uniform"), kKeys, 100'000, 1), kKeys);
  // 1000 expected, with a deviation of 31
  EXPECT_GT(*std::min_element(times.begin(), times.end()), 840U);
  EXPECT_LT(*std::max_element(times.begin(), times.end()), 1160U);
}

TEST(KeyDistribution, OneDrawsASingleKey) {
  const std::vector<std::uint32_t> drawn = draw_keys(parsed("one"), 100, 1000, 1);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), drawn.front()), 1000);
}

TEST(KeyDistribution, ZipfDrawsTheKthMostPopularInProportionToItsRank) {
  constexpr std::uint32_t kKeys = 1000;
  constexpr double kDrawn = 1'000'000;
  for (const double exponent : {0.5, 0.99, 1.5}) {
    const KeyDistribution zipf{.kind = KeyDistribution::Kind::Zipf, .exponent = exponent};
    std::vector<std::uint32_t> times = times_drawn(draw_keys(zipf, kKeys, kDrawn, 1), kKeys);
    std::sort(times.rbegin(), times.rend());
    double sum = 0;
    for (std::uint32_t rank = 1; rank <= kKeys; ++rank) sum += std::pow(rank, -exponent);
    for (const std::uint32_t rank : {1U, 2U, 5U, 10U, 20U}) {
      const double expected = kDrawn * std::pow(rank, -exponent) / sum;
      EXPECT_NEAR(times[rank - 1], expected, 6 * std::sqrt(expected))
          << "exponent " << exponent << ", rank " << rank;
    }
  }
}

TEST(KeyDistribution, ZipfReachesEveryKey) {
  for (const std::uint32_t keys : {7U, 64U, 1000U}) {
    const std::vector<std::uint32_t> times =
        times_drawn(draw_keys(parsed("zipf:0.5"), keys, 500'000, 1), keys);
    EXPECT_EQ(std::count(times.begin(), times.end(), 0U), 0) << keys << " keys";
  }
}

TEST(KeyDistribution, PopularKeysAreNoNeighbours) {
  constexpr std::uint32_t kKeys = 10'000;
  const std::vector<std::uint32_t> times =
      times_drawn(draw_keys(parsed("zipf:1"), kKeys, 200'000, 1), kKeys);
  std::vector<std::uint32_t> by_popularity(kKeys);
  for (std::uint32_t key = 0; key < kKeys; ++key) by_popularity[key] = key;
  std::sort(by_popularity.begin(), by_popularity.end(),
            [&](std::uint32_t a, std::uint32_t b) { return times[a] > times[b]; });
  for (std::size_t rank = 0; rank + 1 < 8; ++rank) {
    const auto distance =
        std::abs(static_cast<int>(by_popularity[rank]) - static_cast<int>(by_popularity[rank + 1]));
    EXPECT_GT(distance, 8) << "ranks " << rank << " and " << rank + 1;
  }
}

}  // namespace
}  // namespace penstock::bench
