#include "redis/circuit_breaker.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;
using Change = CircuitBreaker::Change;
using State = CircuitBreaker::State;

constexpr CircuitBreaker::Time kStart{};

CircuitBreaker open_breaker() {
  CircuitBreaker breaker(3, 50ms, 200ms);
  for (int i = 0; i < 3; ++i) static_cast<void>(breaker.on_failure(kStart, 0));
  return breaker;
}

TEST(CircuitBreaker, OpensAfterFailuresInARow) {
  CircuitBreaker breaker(3, 50ms, 200ms);
  EXPECT_EQ(breaker.on_failure(kStart, 0), Change::None);
  EXPECT_EQ(breaker.on_failure(kStart, 0), Change::None);
  EXPECT_TRUE(breaker.lets_through());
  EXPECT_EQ(breaker.on_failure(kStart, 0), Change::Opened);
  EXPECT_FALSE(breaker.lets_through());
}

TEST(CircuitBreaker, ASuccessResetsTheFailureCount) {
  CircuitBreaker breaker(2, 50ms, 200ms);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(breaker.on_failure(kStart, 0), Change::None);
    EXPECT_EQ(breaker.on_success(), Change::None);
  }
  EXPECT_TRUE(breaker.lets_through());
}

TEST(CircuitBreaker, NewOptionsHoldFromTheNextFailureOn) {
  CircuitBreaker breaker(100, 50ms, 200ms);
  EXPECT_EQ(breaker.on_failure(kStart, 0), Change::None);
  breaker.reconfigure(2, 300ms, 400ms);
  EXPECT_EQ(breaker.on_failure(kStart, 0), Change::Opened);
  EXPECT_EQ(breaker.probe_at(), kStart + 300ms);
  breaker.reconfigure(2, 10ms, 20ms);
  EXPECT_EQ(breaker.probe_at(), kStart + 300ms);
}

TEST(CircuitBreaker, ReloadedOptionsThatAreTheSameKeepTheDoubledPause) {
  CircuitBreaker breaker(1, 50ms, 200ms);
  EXPECT_EQ(breaker.on_failure(kStart, 0), Change::Opened);
  ASSERT_TRUE(breaker.start_probe(kStart + 50ms));
  breaker.reconfigure(1, 50ms, 200ms);
  EXPECT_EQ(breaker.on_failure(kStart + 50ms, 0), Change::None);
  EXPECT_EQ(breaker.probe_at(), kStart + 150ms);
}

TEST(CircuitBreaker, AllowsOneProbeAfterThePause) {
  CircuitBreaker breaker = open_breaker();
  EXPECT_EQ(breaker.probe_at(), kStart + 50ms);
  EXPECT_FALSE(breaker.start_probe(kStart + 49ms));
  EXPECT_TRUE(breaker.start_probe(kStart + 50ms));
  EXPECT_FALSE(breaker.start_probe(kStart + 51ms));
  EXPECT_FALSE(breaker.lets_through());
  EXPECT_EQ(breaker.on_success(), Change::Closed);
  EXPECT_TRUE(breaker.lets_through());
}

TEST(CircuitBreaker, DoublesThePauseWhenTheProbeFails) {
  CircuitBreaker breaker = open_breaker();
  auto now = kStart;
  for (const auto pause : {50ms, 100ms, 200ms, 200ms}) {
    EXPECT_EQ(breaker.probe_at(), now + pause);
    now += pause;
    EXPECT_TRUE(breaker.start_probe(now));
    EXPECT_EQ(breaker.on_failure(now, 0), Change::None);
    EXPECT_EQ(breaker.state(), State::Open);
  }
}

TEST(CircuitBreaker, StartsWithTheShortestPauseAgainOnceClosed) {
  CircuitBreaker breaker = open_breaker();
  EXPECT_TRUE(breaker.start_probe(kStart + 50ms));
  EXPECT_EQ(breaker.on_failure(kStart, 0), Change::None);
  EXPECT_EQ(breaker.on_success(), Change::Closed);
  for (int i = 0; i < 3; ++i) static_cast<void>(breaker.on_failure(kStart, 0));
  EXPECT_EQ(breaker.probe_at(), kStart + 50ms);
}

TEST(CircuitBreaker, FailuresOfOlderCallsDoNotProlongThePause) {
  CircuitBreaker breaker = open_breaker();
  EXPECT_EQ(breaker.on_failure(kStart + 40ms, 0), Change::None);
  EXPECT_EQ(breaker.probe_at(), kStart + 50ms);
}

}  // namespace
}  // namespace penstock::redis
