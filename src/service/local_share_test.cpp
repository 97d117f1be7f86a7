#include "service/local_share.hpp"

#include "reference/quotas.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

void hear(LocalShare& share, const core::NamedCheck& check, const Decision& said) {
  share.remember(check, said, share.changes());
}

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
    hear(share, one, Decision::allow(100, 59, std::chrono::minutes{30}));
    EXPECT_EQ(share.check({one}).front().remaining(), 13U) << to_string(algorithm);  // 25 - 11 - 1
    hear(share, one, Decision::deny(100, 0, std::chrono::minutes{30}, std::chrono::minutes{1}));
    EXPECT_FALSE(share.check({one}).front().allowed()) << to_string(algorithm);
    // nor does the store make less of what was admitted here
    hear(share, one, Decision::allow(100, 100, Duration{0}));
    EXPECT_FALSE(share.check({one}).front().allowed()) << to_string(algorithm);
  }
}

TEST(LocalShare, RemembersABlockUntilTheStoreLiftsIt) {
  ManualClock clock;
  store::MemoryStore memory({.clock = &clock});
  const Membership members(2);
  LocalShare share(memory, members);
  const core::NamedCheck one{.name = {"s", "l"}, .quota = per_minute(100)};
  hear(share, one, Decision::block(100, std::chrono::hours{1}));
  EXPECT_EQ(share.check({one}).front().outcome(), Outcome::Blocked);
  hear(share, one, Decision::allow(100, 100, Duration{0}));
  EXPECT_TRUE(share.check({one}).front().allowed());
}

// A key of a limit that nothing drains from while a test runs, on the one node there is.
class ChangedKeyTest : public testing::Test {
 protected:
  const core::NamedCheck one_{.name = {"s", "l"}, .quota = per_day(10)};
  const core::NamedCheck other_{.name = {"s", "other"}, .quota = per_day(10)};
  const Decision blocked_ = Decision::block(10, std::chrono::hours{1});
  const Decision used_up_ = Decision::deny(10, 0, std::chrono::hours{24}, std::chrono::hours{1});

  [[nodiscard]] Decision look(core::NamedCheck check) {
    check.cost = Cost{0};
    return share_.check({check}).front();
  }

  ManualClock clock_;
  store::MemoryStore memory_{{.clock = &clock_}};
  const Membership members_{1};
  LocalShare share_{memory_, members_};
};

TEST_F(ChangedKeyTest, ABlockThatWasLiftedElsewhereIsForgotten) {
  hear(share_, one_, blocked_);
  hear(share_, other_, blocked_);
  share_.forget(one_.name, LocalShare::Change::ByHand);
  EXPECT_TRUE(look(one_).allowed());
  EXPECT_EQ(look(other_).outcome(), Outcome::Blocked);
}

TEST_F(ChangedKeyTest, UsageThatWasResetOrRefundedElsewhereIsForgotten) {
  for (const auto change : {LocalShare::Change::ByHand, LocalShare::Change::Refunded}) {
    hear(share_, one_, used_up_);
    EXPECT_FALSE(look(one_).allowed());
    share_.forget(one_.name, change);
    EXPECT_EQ(look(one_).remaining(), 10U);
  }
}

TEST_F(ChangedKeyTest, ARefundForgetsNothingThatThisNodeAdmitted) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(share_.check({one_}).front().allowed());
  share_.forget(one_.name, LocalShare::Change::Refunded);
  share_.forget_recalled();
  EXPECT_FALSE(share_.check({one_}).front().allowed());
  share_.forget(one_.name, LocalShare::Change::ByHand);
  EXPECT_TRUE(share_.check({one_}).front().allowed());
}

TEST_F(ChangedKeyTest, AllThatTheStoreSaidIsForgottenWhenChangesWereMissed) {
  hear(share_, one_, blocked_);
  hear(share_, other_, used_up_);
  share_.forget_recalled();
  EXPECT_EQ(look(one_).remaining(), 10U);
  EXPECT_EQ(look(other_).remaining(), 10U);
}

TEST_F(ChangedKeyTest, AnAnswerThatAChangeMayHaveOvertakenIsNotKept) {
  const std::uint64_t asked = share_.changes();
  share_.forget(one_.name, LocalShare::Change::ByHand);
  share_.remember(one_, blocked_, asked);
  EXPECT_TRUE(look(one_).allowed());
}

TEST_F(ChangedKeyTest, ADenialByWhatThisNodeAdmittedTakesNothing) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(share_.check({one_}).front().allowed());
  share_.forget(one_.name, LocalShare::Change::Refunded);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(share_.check({one_, other_}).front().allowed());
  EXPECT_EQ(look(other_).remaining(), 10U);
}

TEST(LocalShare, KeepsNothingBehindAStoreThatCannotBeGone) {
  ManualClock clock;
  store::MemoryStore memory({.clock = &clock});
  const Membership members(2);
  LocalShare share(memory, members, LocalShare::Recall::Nothing);
  hear(share, {.name = {"s", "l"}, .quota = per_minute(100)}, Decision::allow(100, 0, {}));
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

TEST(LocalShare, OwesAllThatItAdmittedWhenItsShareHasShrunk) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    ManualClock clock(Instant{std::chrono::hours{1}});
    store::MemoryStore memory({.clock = &clock});
    Membership members;
    members.heard(2);
    LocalShare share(memory, members);
    const Quota quota = reference::quota_of(100, std::chrono::hours{1}, algorithm);
    const core::NamedCheck forty{.name = {"s", "l"}, .quota = quota, .cost = Cost{40}};
    EXPECT_TRUE(share.check({forty}).front().allowed());
    members.heard(10);
    EXPECT_FALSE(share.check({forty}).front().allowed());
    const auto debts = share.take_debts(9);
    ASSERT_EQ(debts.size(), 1U) << to_string(algorithm);
    EXPECT_EQ(debts[0].units, 40U) << to_string(algorithm);
    // and with fewer nodes again, its own usage still counts
    members.heard(2);
    const core::NamedCheck one{.name = {"s", "l"}, .quota = quota, .cost = Cost{1}};
    EXPECT_EQ(share.check({one}).front().remaining(), 9U) << to_string(algorithm);
  }
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
