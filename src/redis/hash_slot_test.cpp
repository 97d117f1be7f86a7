#include "redis/hash_slot.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

// Verified with CLUSTER KEYSLOT of Redis 7.0.
TEST(HashSlot, AgreesWithRedis) {
  EXPECT_EQ(hash_slot("123456789"), 0x31C3 % kHashSlots);
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot("bar"), 5061);
  EXPECT_EQ(hash_slot(""), 0);
}

TEST(HashSlot, KeysWithOneTagShareASlot) {
  EXPECT_EQ(hash_slot("{user:42}:minute"), hash_slot("{user:42}:day"));
  EXPECT_EQ(hash_slot("before{user:42}after"), hash_slot("user:42"));
}

TEST(HashTag, IsTheFirstNonEmptyPairOfBraces) {
  EXPECT_EQ(hash_tag("foo{bar}{zap}"), "bar");
  EXPECT_EQ(hash_tag("foo{{bar}}zap"), "{bar");
  EXPECT_EQ(hash_tag("foo{}{bar}"), "foo{}{bar}");
  EXPECT_EQ(hash_tag("foo{bar"), "foo{bar");
  EXPECT_EQ(hash_tag("foo}bar{"), "foo}bar{");
}

}  // namespace
}  // namespace penstock::redis
