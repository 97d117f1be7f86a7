#include "redis_store/lease/change_feed.hpp"

#include "redis_store/requests.hpp"
#include "servers/cluster.hpp"
#include "servers/redis_server.hpp"
#include "servers/sentinel_group.hpp"
#include "store_adapters/any_store.hpp"
#include "store_adapters/listener.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// What daemons hear of each other, over a real Redis.
namespace penstock::store_adapters {
namespace {

using core::CountName;

const CountName kAlice{"alice", "limit"};
const Quota kPlenty = per(1000, Days{300});

core::NamedCheck charge(const CountName& name) {
  return {.name = name, .quota = kPlenty, .cost = Cost{1}};
}

TEST(ChangeFeed, TellsWhatWasGivenBackResetAndBlockedAndNothingElse) {
  const servers::RedisServer server;
  const RedisOptions options = patient(server.url(), "feed");
  const auto store = AnyStore::shared(options);
  Listener listener(options);
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  EXPECT_EQ(listener.take(), std::vector{std::optional<CountName>{}}) << "what was before";
  ASSERT_TRUE(store->check({charge(kAlice)}));
  ASSERT_TRUE(store->refund({charge(kAlice), charge({"bob", ""})}));
  ASSERT_TRUE(store->reset({{"carol", "a b"}}));
  ASSERT_TRUE(store->block({kAlice}, std::chrono::hours{1}));
  ASSERT_TRUE(store->block({kAlice}, Duration{0}));
  ASSERT_TRUE(listener.run_until([&] { return listener.heard() == 5; }));
  const std::vector<std::optional<CountName>> expected{kAlice, CountName{"bob", ""},
                                                       CountName{"carol", "a b"}, kAlice, kAlice};
  EXPECT_EQ(listener.take(), expected);
}

TEST(ChangeFeed, IsToldAgainWhenTheChangeHadToBeSentAgain) {
  const servers::RedisServer server;
  const RedisOptions options = patient(server.url(), "feed");
  const auto store = AnyStore::shared(options);
  Listener listener(options);
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  ASSERT_TRUE(store->check({charge(kAlice)}));
  static_cast<void>(listener.take());
  server.must({"SCRIPT", "FLUSH"});
  ASSERT_TRUE(store->reset({kAlice}));
  EXPECT_TRUE(store->run_until([&] {
    listener.poll();
    return listener.heard() == 2;
  })) << "the first came before the change";
}

TEST(ChangeFeed, SaysThatEverythingMayHaveChangedWhenItWasCutOff) {
  servers::RedisServer server;
  const RedisOptions options = patient(server.url(), "feed");
  Listener listener(options);
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  static_cast<void>(listener.take());
  server.kill();
  ASSERT_TRUE(listener.run_until([&] { return !listener.is_listening(); }));
  EXPECT_EQ(listener.take(), std::vector{std::optional<CountName>{}});
  server.restart();
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  EXPECT_EQ(listener.take(), std::vector{std::optional<CountName>{}});
  const auto store = AnyStore::shared(options);
  ASSERT_TRUE(store->reset({kAlice}));
  ASSERT_TRUE(listener.run_until([&] { return listener.heard() == 1; }));
  EXPECT_EQ(listener.take().front(), kAlice);
}

TEST(ChangeFeed, NoticesAServerThatSaysNothingAnyMore) {
  servers::RedisServer server;
  Listener listener(patient(server.url(), "feed"));
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  server.pause();
  EXPECT_TRUE(listener.run_until([&] { return !listener.is_listening(); }));
  server.resume();
  EXPECT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
}

TEST(ChangeFeed, StaysWithAServerWhereNothingHappens) {
  const servers::RedisServer server;
  Listener listener(patient(server.url(), "feed"));
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  static_cast<void>(listener.take());
  const base::Deadline end =
      base::deadline_after(redis::Subscription::kMostSilence + redis::Subscription::kPingEvery);
  ASSERT_TRUE(listener.run_until([&] { return base::monotonic_now() > end; }));
  EXPECT_EQ(listener.heard(), 0U) << "it answers PING";
}

TEST(ChangeFeed, HearsAllServersOfACluster) {
  servers::Cluster cluster;
  const RedisOptions options = patient(cluster.url(), "feed");
  const auto store = AnyStore::shared(options);
  Listener listener(options);
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  static_cast<void>(listener.take());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(store->reset({{"subject" + std::to_string(i), "limit"}}));
  }
  EXPECT_TRUE(listener.run_until([&] { return listener.heard() == 20; }));
}

TEST(ChangeFeed, FollowsAFailover) {
  servers::SentinelGroup group;
  const RedisOptions options = patient(group.url(), "feed");
  Listener listener(options);
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  static_cast<void>(listener.take());
  group.fail_over();
  ASSERT_TRUE(listener.run_until([&] { return listener.heard() >= 2; })) << "lost, and back";
  ASSERT_TRUE(listener.run_until([&] { return listener.is_listening(); }));
  const auto store = AnyStore::shared(options);
  ASSERT_TRUE(store->run_until([&] { return store->reset({kAlice}).has_value(); }));
  EXPECT_TRUE(listener.run_until([&] { return listener.has_heard(kAlice); }));
}

}  // namespace
}  // namespace penstock::store_adapters
