#include "redis_store/redis_clock.hpp"

#include <gtest/gtest.h>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kNoon{Days{20'000} + std::chrono::hours{12}};
constexpr base::Deadline kArrived{seconds{1000}};

TEST(RedisClock, CarriesOnTheTimeOfAReply) {
  RedisClock clock;
  clock.on_reply(kNoon, kArrived);
  EXPECT_EQ(clock.at(kArrived), kNoon);
  EXPECT_EQ(clock.at(kArrived + milliseconds{1500}), kNoon + milliseconds{1500});
}

TEST(RedisClock, IsTheSystemClockBeforeTheFirstReply) {
  const Instant before = system_clock().now();
  const Instant now = RedisClock().now();
  EXPECT_GE(now, before);
  EXPECT_LE(now, system_clock().now());
}

TEST(RedisClock, DoesNotStepBackForASlowReply) {
  RedisClock clock;
  clock.on_reply(kNoon, kArrived);
  clock.on_reply(kNoon + seconds{1} - milliseconds{30}, kArrived + seconds{1});
  EXPECT_EQ(clock.at(kArrived + seconds{1}), kNoon + seconds{1});
  clock.on_reply(kNoon + seconds{2} + milliseconds{5}, kArrived + seconds{2});
  EXPECT_EQ(clock.at(kArrived + seconds{2}), kNoon + seconds{2} + milliseconds{5});
}

TEST(RedisClock, FollowsAClockThatWasSetBack) {
  RedisClock clock;
  clock.on_reply(kNoon, kArrived);
  clock.on_reply(kNoon - seconds{60}, kArrived + RedisClock::kLifetime);
  EXPECT_EQ(clock.at(kArrived + RedisClock::kLifetime), kNoon - seconds{60});
}

}  // namespace
}  // namespace penstock::redis_store
