#include "service/local_share.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::service {
namespace {

constexpr std::array kAlgorithms{Algorithm::TokenBucket, Algorithm::Gcra,
                                 Algorithm::FixedWindow, Algorithm::AnchoredWindow,
                                 Algorithm::SlidingLog,  Algorithm::SlidingCounter,
                                 Algorithm::SubWindows};

RC_GTEST_PROP(LocalShare, IsNeverMoreThanItsPartUnlessThatIsLessThanOne, ()) {
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
  const Quota share = LocalShare::share_of(*quota, nodes);
  RC_ASSERT(share.algorithm() == quota->algorithm());
  RC_ASSERT(share.period() == quota->period());
  RC_ASSERT(std::uint64_t{share.limit()} * nodes <= quota->limit() || share.limit() == 1);
  RC_ASSERT(std::uint64_t{share.capacity()} * nodes <= quota->capacity() || share.capacity() == 1 ||
            share.capacity() == share.limit());
  RC_ASSERT(share.limit() >= 1U);
}

TEST(LocalShare, IsAllOfItForANodeThatIsAlone) {
  EXPECT_EQ(LocalShare::share_of(per_minute(10).burst(3), 1), Quota(per_minute(10).burst(3)));
  EXPECT_EQ(LocalShare::share_of(per_minute(10).burst(5), 2), Quota(per_minute(5).burst(2)));
}

TEST(LocalShare, FollowsTheNumberOfNodes) {
  ManualClock clock;
  store::MemoryStore memory({.clock = &clock});
  Membership members;
  const LocalShare share(memory, members);
  const core::NamedCheck check{.name = {"s", "l"}, .quota = per_minute(100), .cost = Cost{0}};
  EXPECT_EQ(share.check({check}).front().limit(), 100U);
  members.heard(4);
  EXPECT_EQ(share.check({check}).front().limit(), 25U);
}

TEST(Membership, RemembersWhatItHeardLastWhileTheStoreIsGone) {
  Membership members;
  EXPECT_EQ(members.nodes(), 1U);
  Result<std::int64_t> said = std::int64_t{3};
  std::vector<Duration> sent;
  Heartbeat heartbeat(members, [&](Duration lasts, const auto& answered) {
    sent.push_back(lasts);
    answered(said);
  });
  heartbeat.beat();
  EXPECT_EQ(members.nodes(), 3U);
  said = Error{ErrorCode::Unavailable, "gone"};
  heartbeat.beat();
  EXPECT_EQ(members.nodes(), 3U);
  heartbeat.leave();
  EXPECT_EQ(sent, (std::vector<Duration>{Heartbeat::kLasts, Heartbeat::kLasts, Duration{0}}));
}

TEST(Membership, BelievesTheConfigurationMoreThanTheStore) {
  Membership members(7);
  members.heard(2);
  EXPECT_EQ(members.nodes(), 7U);
  Membership counted;
  counted.heard(0);
  EXPECT_EQ(counted.nodes(), 1U);
}

}  // namespace
}  // namespace penstock::service
