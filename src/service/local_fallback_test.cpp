#include "service/local_fallback.hpp"

#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace penstock::service {
namespace {

void hear(LocalFallback& share, const core::NamedCheck& check, const Decision& said) {
  share.remember(check, said, share.changes());
}

TEST(LocalFallback, FollowsTheNumberOfNodes) {
  ManualClock clock;
  store::ShardedTable memory({.clock = &clock});
  Membership members;
  LocalFallback share(memory, members);
  const core::NamedCheck check{.name = {"s", "l"}, .quota = per_minute(100), .cost = Cost{0}};
  EXPECT_EQ(share.check({check}).front().limit(), 100U);
  members.set_nodes(4);
  EXPECT_EQ(share.check({check}).front().limit(), 25U);
}

TEST(LocalFallback, StartsFromTheLastStateOfTheStore) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    ManualClock clock(Instant{std::chrono::hours{1}});
    store::ShardedTable memory({.clock = &clock});
    const Membership members(4);
    LocalFallback share(memory, members);
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

TEST(LocalFallback, RemembersABlockUntilTheStoreLiftsIt) {
  ManualClock clock;
  store::ShardedTable memory({.clock = &clock});
  const Membership members(2);
  LocalFallback share(memory, members);
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
  store::ShardedTable memory_{{.clock = &clock_}};
  const Membership members_{1};
  LocalFallback share_{memory_, members_};
};

TEST_F(ChangedKeyTest, ABlockThatWasLiftedElsewhereIsForgotten) {
  hear(share_, one_, blocked_);
  hear(share_, other_, blocked_);
  share_.forget(one_.name, LocalFallback::Change::Manual);
  EXPECT_TRUE(look(one_).allowed());
  EXPECT_EQ(look(other_).outcome(), Outcome::Blocked);
}

TEST_F(ChangedKeyTest, UsageThatWasResetOrRefundedElsewhereIsForgotten) {
  for (const auto change : {LocalFallback::Change::Manual, LocalFallback::Change::Refunded}) {
    hear(share_, one_, used_up_);
    EXPECT_FALSE(look(one_).allowed());
    share_.forget(one_.name, change);
    EXPECT_EQ(look(one_).remaining(), 10U);
  }
}

TEST_F(ChangedKeyTest, ARefundForgetsNothingThatThisNodeAdmitted) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(share_.check({one_}).front().allowed());
  share_.forget(one_.name, LocalFallback::Change::Refunded);
  share_.forget_store_state();
  EXPECT_FALSE(share_.check({one_}).front().allowed());
  share_.forget(one_.name, LocalFallback::Change::Manual);
  EXPECT_TRUE(share_.check({one_}).front().allowed());
}

TEST_F(ChangedKeyTest, AllThatTheStoreSaidIsForgottenWhenChangesWereMissed) {
  hear(share_, one_, blocked_);
  hear(share_, other_, used_up_);
  share_.forget_store_state();
  EXPECT_EQ(look(one_).remaining(), 10U);
  EXPECT_EQ(look(other_).remaining(), 10U);
}

TEST_F(ChangedKeyTest, AnAnswerThatAChangeMayHaveOvertakenIsNotKept) {
  const std::uint64_t asked = share_.changes();
  share_.forget(one_.name, LocalFallback::Change::Manual);
  share_.remember(one_, blocked_, asked);
  EXPECT_TRUE(look(one_).allowed());
}

TEST_F(ChangedKeyTest, ADenialByWhatThisNodeAdmittedTakesNothing) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(share_.check({one_}).front().allowed());
  share_.forget(one_.name, LocalFallback::Change::Refunded);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(share_.check({one_, other_}).front().allowed());
  EXPECT_EQ(look(other_).remaining(), 10U);
}

TEST(LocalFallback, KeepsNothingForAMemoryStore) {
  ManualClock clock;
  store::ShardedTable memory({.clock = &clock});
  const Membership members(2);
  LocalFallback share(memory, members, LocalFallback::Recall::Nothing);
  hear(share, {.name = {"s", "l"}, .quota = per_minute(100)}, Decision::allow(100, 0, {}));
  EXPECT_EQ(memory.stats().keys, 0U);
}

TEST(LocalFallback, RecordsAdmittedUnitsForReconciliation) {
  ManualClock clock;
  store::ShardedTable memory({.clock = &clock});
  const Membership members(2);
  LocalFallback share(memory, members);
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

TEST(LocalFallback, ReportsAllAdmittedUnitsAfterItsShareShrank) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    ManualClock clock(Instant{std::chrono::hours{1}});
    store::ShardedTable memory({.clock = &clock});
    Membership members;
    members.set_nodes(2);
    LocalFallback share(memory, members);
    const Quota quota = reference::quota_of(100, std::chrono::hours{1}, algorithm);
    const core::NamedCheck forty{.name = {"s", "l"}, .quota = quota, .cost = Cost{40}};
    EXPECT_TRUE(share.check({forty}).front().allowed());
    members.set_nodes(10);
    EXPECT_FALSE(share.check({forty}).front().allowed());
    const auto debts = share.take_unreported(9);
    ASSERT_EQ(debts.size(), 1U) << to_string(algorithm);
    EXPECT_EQ(debts[0].units, 40U) << to_string(algorithm);
    // and with fewer nodes again, its own usage still counts
    members.set_nodes(2);
    const core::NamedCheck one{.name = {"s", "l"}, .quota = quota, .cost = Cost{1}};
    EXPECT_EQ(share.check({one}).front().remaining(), 9U) << to_string(algorithm);
  }
}

TEST(Membership, ConfiguredNodeCountWins) {
  Membership members(7);
  members.set_nodes(2);
  EXPECT_EQ(members.nodes(), 7U);
  Membership counted;
  counted.set_nodes(0);
  EXPECT_EQ(counted.nodes(), 1U);
}

TEST(Membership, AConfiguredNodeCountStaysUntilTheStoreReportsAnother) {
  Membership members;
  members.set_nodes(4);
  members.configure(3);
  members.set_nodes(5);  // a heartbeat that was in flight
  EXPECT_EQ(members.nodes(), 3U);
  members.configure(0);
  EXPECT_EQ(members.nodes(), 3U);
  members.set_nodes(6);
  EXPECT_EQ(members.nodes(), 6U);
}

TEST(Membership, NoHeartbeatReplacesAConfiguredNodeCount) {
  Membership members;
  std::atomic<bool> stop = false;
  std::thread heartbeats([&] {
    while (!stop) members.set_nodes(9);
  });
  for (int i = 0; i < 10'000; ++i) {
    members.configure(3);
    EXPECT_EQ(members.nodes(), 3U);
    members.configure(0);
  }
  stop = true;
  heartbeats.join();
}

}  // namespace
}  // namespace penstock::service
