// Network faults between the limiter and a healthy server.

#include "chaos/workers.hpp"
#include "servers/fault_proxy.hpp"
#include "servers/redis_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::FaultProxy;
using servers::RedisServer;

class Wire : public testing::Test {
 protected:
  RedisServer server_;
  FaultProxy proxy_{server_.port()};
};

// A new limiter per byte, so that every cut hits a connection in the same state.
TEST_F(Wire, AReplyMayBeCutAtEveryByte) {
  const Question question{"cut", kBucket};
  std::size_t length = 0;
  std::size_t allowed = 0;
  {
    SharedLimiter limiter = open_limiter(long_timeout_options(proxy_.url()));
    wait_until_works(limiter);
    ASSERT_TRUE(limiter.check(question.key, question.quota));  // so that the key has a state
    const std::uint64_t before = proxy_.counts().reply_bytes;
    ASSERT_TRUE(limiter.check(question.key, question.quota));
    length = proxy_.counts().reply_bytes - before;
    allowed += 2;
  }
  ASSERT_GT(length, 30U);
  Span slowest{};
  for (std::size_t byte = 0; byte < length; ++byte) {
    SCOPED_TRACE("cut after byte " + std::to_string(byte));
    SharedLimiter limiter = open_limiter(long_timeout_options(proxy_.url()));
    ASSERT_LT(wait_until_works(limiter), kLongTimeout + kMargin);
    proxy_.cut_after(byte);
    const Result<Decision> cut = limiter.check(question.key, question.quota);
    const Time lost = base::monotonic_now();
    ASSERT_FALSE(cut) << text_of(cut);
    ASSERT_EQ(cut.error().code, ErrorCode::ConnectionLost) << text_of(cut);
    const Result<Decision> next = limiter.check(question.key, question.quota);
    slowest = std::max(slowest, base::monotonic_now() - lost);
    ASSERT_TRUE(next) << text_of(next);
    ++allowed;
    // The server had executed the command of the cut reply.
    ASSERT_EQ(question.quota.capacity() - next->remaining(), allowed + byte + 1);
  }
  report("cut within a reply", std::to_string(length) + " places, next answer after " +
                                   text_of(slowest) + " at the most");
}

TEST_F(Wire, BrokenConnectionsUnderLoadLoseOnlyCallsInFlight) {
  SharedLimiter limiter = open_limiter(long_timeout_options(proxy_.url()));
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  Time recovered{};
  for (int i = 0; i < 3; ++i) {
    workers.wait_for_decisions(200);
    if (i % 2 == 0) {
      proxy_.reset();
    } else {
      proxy_.close();
    }
    recovered = base::monotonic_now();
  }
  workers.wait_for_decisions(200);
  const Tally tally = workers.stop();
  report_recovery("three connections broken", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
  EXPECT_EQ(limiter.stats().connects, 4U);
}

// As behind a load balancer that drops connections, or with CLIENT KILL.
TEST_F(Wire, RepeatedlyBrokenConnectionsLoseOnlyCallsInFlight) {
  constexpr std::chrono::milliseconds kTimeout = 200ms;
  SharedLimiter limiter = open_limiter({.url = proxy_.url(), .timeout = kTimeout});
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  for (int i = 0; i < 20; ++i) {
    workers.wait_for(100ms);
    proxy_.close();
  }
  workers.wait_for_decisions(200);
  const Tally tally = workers.stop();
  const std::size_t answers = tally.answers().size();
  const std::size_t other = tally.errors() - tally.errors(ErrorCode::ConnectionLost);
  report("connection dropped 20 times, every 100 ms", tally.summary());
  EXPECT_LT(other * 100, answers) << "requests that could have waited for the next connection";
  expect_consistent(tally, default_questions(), limiter, kTimeout);
}

TEST_F(Wire, BytesMayArriveOneByOne) {
  constexpr std::chrono::milliseconds kTimeout = 10s;  // a wake-up per byte, on a busy machine
  SharedLimiter limiter = open_limiter({.url = proxy_.url(), .timeout = kTimeout});
  wait_until_works(limiter);
  proxy_.slice(1, 20us);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(100);
  const Tally tally = workers.stop();
  proxy_.pass();
  report("one byte at a time", tally.summary());
  EXPECT_EQ(tally.errors(), 0U);
  expect_consistent(tally, default_questions(), limiter, kTimeout);
}

// Corruption that a checksum should have detected. A decision may be wrong, and a corrupt state may
// select another script, but nothing hangs or crashes, and the limiter recovers.
TEST_F(Wire, CorruptedRepliesAreErrorsUntilTheyEnd) {
  SharedLimiter limiter = open_limiter(long_timeout_options(proxy_.url()));
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(200);
  for (const std::uint64_t nth : {53U, 1U}) {
    proxy_.corrupt(nth);
    workers.wait_for_errors(20);
    proxy_.pass();
    workers.wait_for_decisions(20);
  }
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(200);
  const Tally tally = workers.stop();
  report_recovery("corrupted replies", tally, recovered);
  expect_prompt(tally, kLongTimeout);
  EXPECT_EQ(tally.errors(),
            tally.errors(ErrorCode::Protocol) + tally.errors(ErrorCode::ConnectionLost) +
                tally.errors(ErrorCode::Timeout) + tally.errors(ErrorCode::Unavailable));
  const std::vector<Question> questions = default_questions();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GE(stored_usage(limiter, questions[i]), tally.allowed(i));
  }
}

TEST_F(Wire, RecoversFromANetworkThatDropsEverything) {
  SharedLimiter limiter = open_limiter({.url = proxy_.url()});
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(200);
  proxy_.stall();
  workers.wait_for(500ms);
  proxy_.pass();
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(200);
  const Tally tally = workers.stop();
  report_recovery("network silent for 500 ms, timeout 10 ms", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, 10ms);
}

TEST_F(Wire, RecoversFromAClosedPort) {
  SharedLimiter limiter = open_limiter(long_timeout_options(proxy_.url()));
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(200);
  proxy_.close_port();
  proxy_.reset();
  workers.wait_for(300ms);
  proxy_.pass();
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(200);
  const Tally tally = workers.stop();
  report_recovery("port closed for 300 ms", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

}  // namespace
}  // namespace penstock::chaos
