#include "service/local_share.hpp"

#include "reference/quotas.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

TEST(LocalShare, FollowsTheNumberOfNodes) {
  ManualClock clock;
  store::MemoryStore memory({.clock = &clock});
  Membership members;
  LocalShare share(memory, members);
  const core::NamedCheck check{.name = {"s", "l"}, .quota = per_minute(100), .cost = Cost{0}};
  EXPECT_EQ(share.check({check}).front().limit(), 100U);
  members.heard(4);
  EXPECT_EQ(share.check({check}).front().limit(), 25U);
}

TEST(LocalShare, BeginsWhereTheStoreStopped) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    ManualClock clock(Instant{std::chrono::hours{1}});
    store::MemoryStore memory({.clock = &clock});
    const Membership members(4);
    LocalShare share(memory, members);
    const Quota quota = reference::quota_of(100, std::chrono::hours{1}, algorithm);
    const core::NamedCheck one{.name = {"s", "l"}, .quota = quota};
    share.remember(one, Decision::allow(100, 59, std::chrono::minutes{30}));
    EXPECT_EQ(share.check({one}).front().remaining(), 13U) << to_string(algorithm);  // 25 - 11 - 1
    share.remember(one, Decision::deny(100, 0, std::chrono::minutes{30}, std::chrono::minutes{1}));
    EXPECT_FALSE(share.check({one}).front().allowed()) << to_string(algorithm);
    // nor does the store make less of what was admitted here
    share.remember(one, Decision::allow(100, 100, Duration{0}));
    EXPECT_FALSE(share.check({one}).front().allowed()) << to_string(algorithm);
  }
}

TEST(LocalShare, RemembersABlockUntilTheStoreLiftsIt) {
  ManualClock clock;
  store::MemoryStore memory({.clock = &clock});
  const Membership members(2);
  LocalShare share(memory, members);
  const core::NamedCheck one{.name = {"s", "l"}, .quota = per_minute(100)};
  share.remember(one, Decision::block(100, std::chrono::hours{1}));
  EXPECT_EQ(share.check({one}).front().outcome(), Outcome::Blocked);
  share.remember(one, Decision::allow(100, 100, Duration{0}));
  EXPECT_TRUE(share.check({one}).front().allowed());
}

TEST(LocalShare, KeepsNothingBehindAStoreThatCannotBeGone) {
  ManualClock clock;
  store::MemoryStore memory({.clock = &clock});
  const Membership members(2);
  LocalShare share(memory, members, LocalShare::Recall::Nothing);
  share.remember({.name = {"s", "l"}, .quota = per_minute(100)}, Decision::allow(100, 0, {}));
  EXPECT_EQ(memory.stats().keys, 0U);
}

TEST(LocalShare, NotesForTheStoreWhatPassesAllLimits) {
  ManualClock clock;
  store::MemoryStore memory({.clock = &clock});
  const Membership members(2);
  LocalShare share(memory, members);
  const core::NamedCheck wide{.name = {"s", "wide"}, .quota = per_hour(100), .cost = Cost{3}};
  const core::NamedCheck tight{.name = {"s", "tight"}, .quota = per_hour(2)};
  const core::NamedCheck look{.name = {"s", "look"}, .quota = per_hour(2), .cost = Cost{0}};
  for (int i = 0; i < 3; ++i) static_cast<void>(share.check({wide, tight, look}));
  const auto noted = share.ledger().take(9);
  ASSERT_EQ(noted.size(), 2U);
  EXPECT_EQ(noted[0].name, tight.name);
  EXPECT_EQ(noted[0].units, 1U);
  EXPECT_EQ(noted[1].units, 3U);
  EXPECT_EQ(noted[1].quota, wide.quota);
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
