#include "chaos/workers.hpp"
#include "servers/fault_proxy.hpp"
#include "servers/redis_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::Direction;
using servers::FaultProxy;
using servers::RedisServer;

constexpr std::chrono::milliseconds kDefaultTimeout = 10ms;

TEST(Hang, AFrozenRedisCostsOneTimeoutAndThenNothing) {
  RedisServer server;
  SharedLimiter limiter = open_limiter({.url = server.url()});
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(1000);
  const Time frozen = base::monotonic_now();
  server.pause();
  workers.wait_for(2s);
  const Time recovered = base::monotonic_now();
  server.resume();
  workers.wait_for_decisions(1000);
  const Tally tally = workers.stop();

  std::vector<Span> timeouts;
  for (const Answer& answer : tally.answers()) {
    if (answer.answered >= frozen && answer.error && answer.error->code == ErrorCode::Timeout) {
      timeouts.push_back(answer.took());
    }
  }
  ASSERT_FALSE(timeouts.empty());
  std::ranges::sort(timeouts);
  const Span median = timeouts[timeouts.size() / 2];
  report("SIGSTOP for 2 s", std::to_string(timeouts.size()) + " timeouts, median " +
                                text_of(median) + ", slowest " + text_of(timeouts.back()));
  EXPECT_LT(median, kDefaultTimeout + 5ms);
  EXPECT_LT(timeouts.back(), kDefaultTimeout + 90ms);

  // Half a second is more than the breaker needs to open.
  const Time open = frozen + 500ms;
  const Span p50 = tally.percentile(50, open, recovered - 10ms);
  const Span p95 = tally.percentile(95, open, recovered - 10ms);
  const Span p99 = tally.percentile(99, open, recovered - 10ms);
  report("calls while the breaker is open",
         "median " + text_of(p50) + ", p95 " + text_of(p95) + ", p99 " + text_of(p99));
  EXPECT_LT(p95, 1ms);
  EXPECT_LT(p99, kDefaultTimeout);
  report_recovery("SIGSTOP for 2 s", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kDefaultTimeout);
}

// Every function of SharedLimiter that calls Redis, by name.
std::vector<std::pair<std::string, std::function<std::optional<Error>(SharedLimiter&)>>>
all_questions() {
  const auto error_of = [](const auto& said) {
    return said ? std::nullopt : std::optional<Error>(said.error());
  };
  static const Limits limits = Limits::make({{"small", kSmall}}).value();
  static const std::vector<Check> checks{{.key = "one", .quota = kBucket},
                                         {.key = "two", .quota = kWindow}};
  return {
      {"check", [=](auto& asked) { return error_of(asked.check("key", kBucket)); }},
      {"check of limits", [=](auto& asked) { return error_of(asked.check("key", limits)); }},
      {"check_all", [=](auto& asked) { return error_of(asked.check_all(checks)); }},
      {"check_each",
       [=](auto& asked) {
         std::vector<Result<Decision>> results(checks.size(), Decision{});
         asked.check_each(checks, results);
         return error_of(results.back());
       }},
      {"refund", [=](auto& asked) { return error_of(asked.refund("key", kBucket)); }},
      {"refund of limits", [=](auto& asked) { return error_of(asked.refund("key", limits)); }},
      {"reset", [=](auto& asked) { return error_of(asked.reset("key")); }},
      {"reset of limits", [=](auto& asked) { return error_of(asked.reset("key", limits)); }},
      {"block", [=](auto& asked) { return error_of(asked.block("key", 1s)); }},
      {"unblock", [=](auto& asked) { return error_of(asked.unblock("key")); }},
      {"add", [=](auto& asked) { return error_of(asked.counters().add("counter", 1)); }},
      {"get", [=](auto& asked) { return error_of(asked.counters().get("counter")); }},
  };
}

// The limiter's own thread is blocked in the event listener: calls answered meanwhile did not go
// through it.
TEST(Hang, CallsFailOnTheCallersThreadWhileTheBreakerIsOpen) {
  constexpr std::size_t kCalls = 20'000;
  RedisServer server;
  std::promise<void> opened;
  std::promise<void> go_on;
  std::atomic<bool> is_open = false;
  RedisOptions options{.url = server.url()};
  options.on_event = [&](const RedisEvent& event) {
    if (is_open || event.kind != RedisEvent::Kind::BreakerOpened) return;
    is_open = true;
    opened.set_value();
    go_on.get_future().wait();
  };
  SharedLimiter limiter = open_limiter(std::move(options));
  wait_until_works(limiter);
  server.pause();
  std::thread opener([&] {
    while (!is_open) EXPECT_FALSE(limiter.check("key", kBucket));
  });
  opened.get_future().wait();

  std::vector<Span> times;
  for (std::size_t i = 0; i < kCalls; ++i) {
    const Time asked = base::monotonic_now();
    const Result<Decision> said = limiter.check("key", kBucket);
    times.push_back(base::monotonic_now() - asked);
    ASSERT_FALSE(said);
    ASSERT_EQ(said.error().code, ErrorCode::Unavailable);
  }
  const auto questions = all_questions();
  for (const auto& [name, ask] : questions) {
    const std::optional<Error> error = ask(limiter);
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(text_of(*error), "unavailable: 127.0.0.1:" + std::to_string(server.port()) +
                                   ": not called, the circuit breaker is open")
        << name;
  }
  go_on.set_value();
  opener.join();
  EXPECT_EQ(limiter.stats().fast_fails, kCalls + questions.size());

  std::ranges::sort(times);
  const auto nanoseconds = [](Span time) { return std::to_string(time.count()) + " ns"; };
  report("calls of one thread while the breaker is open",
         "median " + nanoseconds(times[kCalls / 2]) + ", p99 " +
             nanoseconds(times[kCalls * 99 / 100]) + ", slowest " + nanoseconds(times.back()));
  server.resume();
  wait_until_works(limiter);
}

TEST(Hang, ALimiterIsDestroyedAtOnceWhileRedisHangs) {
  RedisServer server;
  auto limiter = std::make_unique<SharedLimiter>(open_limiter({.url = server.url()}));
  wait_until_works(*limiter);
  Workers workers(*limiter, default_questions());
  workers.wait_for_decisions(300);
  server.pause();
  workers.wait_for_errors(20);
  const Tally tally = workers.stop();  // the last calls have just returned
  const Time start = base::monotonic_now();
  limiter.reset();
  const Span took = base::monotonic_now() - start;
  report("destructor while Redis hangs", text_of(took));
  EXPECT_LT(took, 250ms);
  expect_prompt(tally, kDefaultTimeout);
  server.resume();
}

TEST(Hang, ALimiterThatNeverConnectedIsDestroyedAtOnce) {
  RedisServer server;
  server.pause();
  auto limiter = std::make_unique<SharedLimiter>(open_limiter({.url = server.url()}));
  const Result<Decision> said = limiter->check("key", kBucket);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, ErrorCode::Unavailable) << said.error().detail;
  const Time start = base::monotonic_now();
  limiter.reset();
  const Span took = base::monotonic_now() - start;
  report("destructor while connecting to a Redis that hangs", text_of(took));
  EXPECT_LT(took, 250ms);
  server.resume();
}

// A check of a key with a check in flight waits for that answer first: a timeout should allow for
// two round trips.
TEST(Hang, SlowRepliesAreFineWithinTheTimeout) {
  constexpr std::chrono::milliseconds kTimeout = 500ms;
  RedisServer server;
  FaultProxy proxy(server.port());
  SharedLimiter limiter = open_limiter({.url = proxy.url(), .timeout = kTimeout});
  wait_until_works(limiter);
  proxy.delay(Direction::Replies, 20ms);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(100);
  const Tally tally = workers.stop();
  report("replies 20 ms late, timeout 500 ms", tally.summary());
  EXPECT_EQ(tally.errors(), 0U);
  expect_consistent(tally, default_questions(), limiter, kTimeout);
}

// Even if callers have little time left, a server that answers in time is tried again.
TEST(Hang, ABreakerOpenedByShortTimeoutsIsClosedByAProbeWithALongerOne) {
  RedisServer server;
  FaultProxy proxy(server.port());
  SharedLimiter limiter = open_limiter({.url = proxy.url(), .timeout = 60ms});
  wait_until_works(limiter);
  proxy.delay(Direction::Replies, 40ms);
  // One of the two threads per key waits for the other, and has 20 ms left for 40 ms.
  Workers workers(limiter, default_questions());
  workers.wait_for(2s);
  const Tally tally = workers.stop();
  proxy.pass();
  report("replies 40 ms late, timeout 60 ms", tally.summary());
  EXPECT_GT(tally.answers().size() - tally.errors(), 20U);
  expect_consistent(tally, default_questions(), limiter, 60ms);
}

// Each key has its own limit, which identifies the key of an answer.
TEST(Hang, ALateReplyIsNeverMatchedToAnotherCall) {
  RedisServer server;
  FaultProxy proxy(server.port());
  SharedLimiter limiter = open_limiter({.url = proxy.url()});
  wait_until_works(limiter);
  std::vector<Question> questions;
  for (int i = 0; i < 4; ++i) {
    const QuotaSpec bucket = per(10'000 + i, Quota::kMaxPeriod);
    questions.push_back({"own-" + std::to_string(i), Quota::make(bucket).value()});
  }
  std::atomic<std::size_t> strange = 0;
  Workers workers(limiter, questions, [&](SharedLimiter& asked, const Question& question) {
    Result<Decision> said = asked.check(question.key, question.quota);
    if (said && said->limit() != question.quota.capacity()) ++strange;
    return said;
  });
  Time recovered{};
  for (int i = 0; i < 5; ++i) {
    workers.wait_for_decisions(50);
    proxy.delay(Direction::Replies, 50ms);
    workers.wait_for_errors(10);
    proxy.pass();
    recovered = base::monotonic_now();
  }
  workers.wait_for_decisions(200);
  const Tally tally = workers.stop();
  report_recovery("replies 50 ms late, timeout 10 ms", tally, recovered);
  EXPECT_EQ(strange, 0U);
  EXPECT_GT(tally.errors(ErrorCode::Timeout), 0U);
  expect_consistent(tally, questions, limiter, kDefaultTimeout);
}

TEST(Hang, BackPressureIsOverloadedAndChargesNothing) {
  RedisServer server;
  FaultProxy proxy(server.port());
  RedisOptions options = long_timeout_options(proxy.url());
  options.max_waiting = 2;
  SharedLimiter limiter = open_limiter(options);
  wait_until_works(limiter);
  proxy.delay(Direction::Replies, 5ms);
  Workers workers(limiter, default_questions());
  workers.wait_for_errors(100);
  workers.wait_for_decisions(100);
  proxy.pass();
  const Tally tally = workers.stop();
  report("six threads, two may wait", tally.summary());
  EXPECT_EQ(tally.errors(), tally.errors(ErrorCode::Overloaded));
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

}  // namespace
}  // namespace penstock::chaos
