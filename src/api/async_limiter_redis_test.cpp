#include "penstock/async.hpp"
#include "servers/redis_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace penstock {
namespace {

namespace asio = boost::asio;
using std::chrono::minutes;
using std::chrono::seconds;

// An event loop, a server and a limiter between them.
struct AsyncLimiterTest : ::testing::Test {
  // Runs the coroutine to its end.
  void run(std::function<asio::awaitable<void>(AsyncLimiter&)> body) {
    asio::io_context context(1);
    Result<AsyncLimiter> limiter = AsyncLimiter::open(
        context.get_executor(), RedisOptions{.url = server.url(), .timeout = seconds{5}});
    ASSERT_TRUE(limiter) << limiter.error().detail;
    bool ended = false;
    asio::co_spawn(context, body(*limiter), [&](const std::exception_ptr& failure) {
      ended = failure == nullptr;
      context.stop();
    });
    context.run();
    EXPECT_TRUE(ended);
    stats = limiter->stats();
  }

  servers::RedisServer server;
  RedisStats stats;
};

asio::awaitable<void> ask_one_by_one(AsyncLimiter& limiter) {
  for (const bool expected : {true, true, false}) {
    const Result<Decision> decision = co_await limiter.check("alice", per_day(2));
    EXPECT_TRUE(decision) << decision.error().detail;
    EXPECT_EQ(decision->allowed(), expected);
  }
  const Result<Decision> refunded = co_await limiter.refund("alice", per_day(2));
  EXPECT_EQ(refunded->remaining(), 1U);
  const Result<bool> reset = co_await limiter.reset("alice");
  EXPECT_TRUE(*reset);
  const Result<bool> blocked = co_await limiter.block("alice", minutes{1});
  EXPECT_FALSE(*blocked);
  const Result<Decision> denied = co_await limiter.check("alice", per_day(2));
  EXPECT_EQ(denied->outcome(), Outcome::Blocked);
  const Result<bool> unblocked = co_await limiter.unblock("alice");
  EXPECT_TRUE(*unblocked);
}

TEST_F(AsyncLimiterTest, AnswersWhatIsAwaited) { run(ask_one_by_one); }

asio::awaitable<void> ask_many_at_once(AsyncLimiter& limiter) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("key " + std::to_string(i % 50));
  std::vector<Check> checks;
  for (const std::string& name : names) checks.push_back({.key = name, .quota = per_day(1)});
  const std::vector<Result<Decision>> results = co_await limiter.check_each(checks);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(results[i]);
    EXPECT_EQ(results[i]->allowed(), i < 50) << i;
  }
}

TEST_F(AsyncLimiterTest, AsksABatchInOneRoundTrip) {
  run(ask_many_at_once);
  EXPECT_EQ(stats.round_trips, 1U);
}

asio::awaitable<void> ask_multi_check(AsyncLimiter& limiter) {
  const Limits limits = Limits::make({{"second", per_second(10)}, {"day", per_day(1)}}).value();
  const Result<Decision> first = co_await limiter.check("bob", limits);
  EXPECT_TRUE(first->allowed());
  const Result<Decision> second = co_await limiter.check("bob", limits);
  EXPECT_FALSE(second->allowed());
  EXPECT_EQ(limits.name_of(*second), "day");
  const std::vector<Check> checks{{"a", per_day(3)}, {"b", per_day(2).fixed_window()}};
  std::vector<Decision> each(2);
  const Result<Decision> all = co_await limiter.check_all(checks, each);
  EXPECT_EQ(all->decided_by(), 1U);
  EXPECT_EQ(each[0].remaining(), 2U);
  EXPECT_EQ(each[1].remaining(), 1U);
}

TEST_F(AsyncLimiterTest, DecidesSeveralLimitsTogether) { run(ask_multi_check); }

TEST(AsyncLimiter, RejectsOptionsThatCannotWork) {
  asio::io_context context(1);
  const Result<AsyncLimiter> limiter =
      AsyncLimiter::open(context.get_executor(), RedisOptions{.url = "http://localhost"});
  ASSERT_FALSE(limiter);
  EXPECT_EQ(limiter.error().code, ErrorCode::InvalidInput);
}

asio::awaitable<void> ask_in_vain(AsyncLimiter& limiter, std::optional<Result<Decision>>& result) {
  result = co_await limiter.check("k", per_day(1));
}

TEST(AsyncLimiter, AnswersEveryCallerBeforeDestruction) {
  asio::io_context context(1);
  std::optional<Result<Decision>> result;
  {
    Result<AsyncLimiter> limiter = AsyncLimiter::open(
        context.get_executor(), RedisOptions{.url = "redis://127.0.0.1:1", .timeout = seconds{5}});
    ASSERT_TRUE(limiter);
    asio::co_spawn(context, ask_in_vain(*limiter, result), [](const std::exception_ptr&) {});
    context.poll();
  }
  context.run();
  ASSERT_TRUE(result);
  ASSERT_FALSE(*result);
  EXPECT_EQ(result->error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace penstock
