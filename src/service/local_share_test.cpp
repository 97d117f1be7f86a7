#include "service/local_share.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

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
