#include "redis/circuit_breaker.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToItsLimit) {
  Backoff backoff(20ms, 100ms);
  EXPECT_EQ(backoff.next(0), 20ms);
  EXPECT_EQ(backoff.next(0), 40ms);
  EXPECT_EQ(backoff.next(0), 80ms);
  EXPECT_EQ(backoff.next(0), 100ms);
  EXPECT_EQ(backoff.next(0), 100ms);
  backoff.reset();
  EXPECT_EQ(backoff.next(0), 20ms);
}

RC_GTEST_PROP(Backoff, LeavesOutLessThanHalfOfAPause, (std::uint32_t random)) {
  Backoff backoff(20ms, 100ms);
  for (const Backoff::Duration whole : {20ms, 40ms, 80ms, 100ms, 100ms}) {
    const Backoff::Duration pause = backoff.next(random);
    RC_ASSERT(pause <= whole);
    RC_ASSERT(pause > whole / 2);
  }
}

}  // namespace
}  // namespace penstock::redis
