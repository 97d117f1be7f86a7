#include "redis/client.hpp"
#include "redis_client/harness.hpp"
#include "servers/sentinel_group.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using redis_client::Harness;
using redis_client::text_of;
using servers::RedisServer;
using servers::SentinelGroup;

TEST(SentinelRedis, ConnectsToTheMaster) {
  SentinelGroup group;
  Harness harness(group.url());
  EXPECT_EQ(text_of(harness.ask({"SET", "key", "value"})), "OK");
  EXPECT_EQ(harness.client->address_of(0), group.server(0).address());
}

TEST(SentinelRedis, SkipsADeadSentinel) {
  SentinelGroup group;
  RedisServer dead;
  dead.kill();
  Harness harness("redis-sentinel://" + dead.address() + "," + group.sentinel(0).address() +
                  "/mymaster");
  EXPECT_EQ(text_of(harness.ask({"SET", "key", "value"})), "OK");
}

TEST(SentinelRedis, AnUnknownMasterNameIsMisconfigured) {
  SentinelGroup group;
  Harness harness("redis-sentinel://" + group.sentinel(0).address() + "/other");
  const Result<resp::Value> reply = harness.ask({"PING"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Misconfigured);
  EXPECT_EQ(reply.error().detail,
            "sentinel " + group.sentinel(0).address() + ": knows no master \"other\"");
}

TEST(SentinelRedis, FollowsAnAnnouncedFailover) {
  SentinelGroup group;
  Harness harness(group.url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  group.fail_over();
  EXPECT_TRUE(harness.run_until([&] { return harness.has_event("the master is now"); }));
  EXPECT_TRUE(harness.ask_until_answered({"SET", "key", "again"}));
  EXPECT_EQ(harness.client->address_of(0), group.master().address());
}

TEST(SentinelRedis, FollowsAFailoverAfterTheMasterCrashed) {
  SentinelGroup group;
  Harness harness(group.url());
  ASSERT_TRUE(harness.ask_until_answered({"SET", "key", "value"}));
  // The sentinels may need several votes, six seconds apart.
  group.wait_for_master_other_than(group.kill_master().port());
  EXPECT_TRUE(harness.ask_until_answered({"SET", "key", "again"}));
  EXPECT_EQ(harness.client->address_of(0), group.server(1).address());
}

}  // namespace
}  // namespace penstock::redis
