#include "core/quota_math.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

namespace penstock::core {
namespace {

constexpr std::array kAlgorithms{Algorithm::TokenBucket, Algorithm::Gcra,
                                 Algorithm::FixedWindow, Algorithm::AnchoredWindow,
                                 Algorithm::SlidingLog,  Algorithm::SlidingCounter,
                                 Algorithm::SubWindows};

RC_GTEST_PROP(Share, IsNeverMoreThanItsPartUnlessThatIsLessThanOne, ()) {
  QuotaSpec spec{.limit = *rc::gen::inRange<std::int64_t>(1, 10'000),
                 .period = std::chrono::minutes{*rc::gen::inRange(1, 100'000)},
                 .capacity = std::nullopt,
                 .algorithm = *rc::gen::elementOf(kAlgorithms)};
  if (spec.algorithm == Algorithm::TokenBucket || spec.algorithm == Algorithm::Gcra) {
    spec.capacity = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
  }
  const Result<Quota> quota = Quota::make(spec);
  RC_PRE(quota.has_value());
  const auto nodes = *rc::gen::inRange(1U, 5'000U);
  const Quota share = share_of(*quota, nodes);
  RC_ASSERT(share.algorithm() == quota->algorithm());
  RC_ASSERT(share.period() == quota->period());
  RC_ASSERT(std::uint64_t{share.limit()} * nodes <= quota->limit() || share.limit() == 1);
  RC_ASSERT(std::uint64_t{share.capacity()} * nodes <= quota->capacity() || share.capacity() == 1 ||
            share.capacity() == share.limit());
  RC_ASSERT(share.limit() >= 1U);
}

TEST(Share, IsAllOfItForANodeThatIsAlone) {
  EXPECT_EQ(share_of(per_minute(10).burst(3), 1), Quota(per_minute(10).burst(3)));
  EXPECT_EQ(share_of(per_minute(10).burst(5), 2), Quota(per_minute(5).burst(2)));
}

}  // namespace
}  // namespace penstock::core
