#include "redis_store/lease/change_feed.hpp"

#include "redis_store/requests.hpp"
#include "servers/cluster.hpp"
#include "servers/redis_server.hpp"
#include "servers/sentinel_group.hpp"
#include "store_adapters/any_store.hpp"
#include "store_adapters/feed_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// The change feed between daemons, over a real Redis.
namespace penstock::store_adapters {
namespace {

using core::LimitKey;

const LimitKey kAlice{"alice", "limit"};
const Quota kPlenty = per(1000, Days{300});

core::NamedCheck charge(const LimitKey& name) {
  return {.name = name, .quota = kPlenty, .cost = Cost{1}};
}

TEST(ChangeFeed, ReportsRefundsResetsAndBlocksAndNothingElse) {
  const servers::RedisServer server;
  const RedisOptions options = long_timeout_options(server.url(), "feed");
  const auto store = AnyStore::shared(options);
  FeedReader reader(options);
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  EXPECT_EQ(reader.take(), std::vector{std::optional<LimitKey>{}}) << "what was before";
  ASSERT_TRUE(store->check({charge(kAlice)}));
  ASSERT_TRUE(store->refund({charge(kAlice), charge({"bob", ""})}));
  ASSERT_TRUE(store->reset({{"carol", "a b"}}));
  ASSERT_TRUE(store->block({kAlice}, std::chrono::hours{1}));
  ASSERT_TRUE(store->block({kAlice}, Duration{0}));
  ASSERT_TRUE(reader.run_until([&] { return reader.received() == 5; }));
  const std::vector<std::optional<LimitKey>> expected{kAlice, LimitKey{"bob", ""},
                                                      LimitKey{"carol", "a b"}, kAlice, kAlice};
  EXPECT_EQ(reader.take(), expected);
}

TEST(ChangeFeed, IsPublishedAgainWhenTheChangeWasRetried) {
  const servers::RedisServer server;
  const RedisOptions options = long_timeout_options(server.url(), "feed");
  const auto store = AnyStore::shared(options);
  FeedReader reader(options);
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  ASSERT_TRUE(store->check({charge(kAlice)}));
  static_cast<void>(reader.take());
  server.must({"SCRIPT", "FLUSH"});
  ASSERT_TRUE(store->reset({kAlice}));
  EXPECT_TRUE(store->run_until([&] {
    reader.poll();
    return reader.received() == 2;
  })) << "the first came before the change";
}

TEST(ChangeFeed, ReportsThatEverythingMayHaveChangedAfterADisconnect) {
  servers::RedisServer server;
  const RedisOptions options = long_timeout_options(server.url(), "feed");
  FeedReader reader(options);
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  static_cast<void>(reader.take());
  server.kill();
  ASSERT_TRUE(reader.run_until([&] { return !reader.is_listening(); }));
  EXPECT_EQ(reader.take(), std::vector{std::optional<LimitKey>{}});
  server.restart();
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  EXPECT_EQ(reader.take(), std::vector{std::optional<LimitKey>{}});
  const auto store = AnyStore::shared(options);
  ASSERT_TRUE(store->reset({kAlice}));
  ASSERT_TRUE(reader.run_until([&] { return reader.received() == 1; }));
  EXPECT_EQ(reader.take().front(), kAlice);
}

TEST(ChangeFeed, DetectsAServerThatStopsResponding) {
  servers::RedisServer server;
  FeedReader reader(long_timeout_options(server.url(), "feed"));
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  server.pause();
  EXPECT_TRUE(reader.run_until([&] { return !reader.is_listening(); }));
  server.resume();
  EXPECT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
}

TEST(ChangeFeed, KeepsAnIdleConnection) {
  const servers::RedisServer server;
  FeedReader reader(long_timeout_options(server.url(), "feed"));
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  static_cast<void>(reader.take());
  const base::Deadline end =
      base::deadline_after(redis::Subscription::kMaxSilence + redis::Subscription::kPingEvery);
  ASSERT_TRUE(reader.run_until([&] { return base::monotonic_now() > end; }));
  EXPECT_EQ(reader.received(), 0U) << "it answers PING";
}

TEST(ChangeFeed, ReceivesMessagesOfAllServersOfACluster) {
  servers::Cluster cluster;
  const RedisOptions options = long_timeout_options(cluster.url(), "feed");
  const auto store = AnyStore::shared(options);
  FeedReader reader(options);
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  static_cast<void>(reader.take());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store->reset({{"subject" + std::to_string(i), "limit"}}));
  }
  EXPECT_TRUE(reader.run_until([&] { return reader.received() == 20; }));
}

TEST(ChangeFeed, FollowsAFailover) {
  servers::SentinelGroup group;
  const RedisOptions options = long_timeout_options(group.url(), "feed");
  FeedReader reader(options);
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  static_cast<void>(reader.take());
  group.fail_over();
  ASSERT_TRUE(reader.run_until([&] { return reader.received() >= 2; })) << "lost, and back";
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  const auto store = AnyStore::shared(options);
  ASSERT_TRUE(store->run_until([&] { return store->reset({kAlice}).has_value(); }));
  EXPECT_TRUE(reader.run_until([&] { return reader.has_received(kAlice); }));
}

}  // namespace
}  // namespace penstock::store_adapters
