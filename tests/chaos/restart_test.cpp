#include "chaos/workers.hpp"
#include "servers/redis_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::Persistence;
using servers::RedisServer;

TEST(Restart, NothingIsForgottenWithAnAppendOnlyFile) {
  RedisServer server({.persistence = Persistence::AppendOnly});
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(1000);
  server.kill();
  workers.wait_for_errors(100);
  server.restart();
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(1000);
  const Tally tally = workers.stop();
  report_recovery("kill -9 and restart, append-only file", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

// Each data loss forgets the usage so far: at most one whole limit.
TEST(Restart, WithoutPersistenceEachRestartAdmitsAtMostOneMoreLimit) {
  constexpr std::size_t kLosses = 2;
  RedisServer server;
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  Workers workers(limiter, default_questions());
  Time recovered{};
  for (std::size_t i = 0; i < kLosses; ++i) {
    workers.wait_for_decisions(1500);
    server.kill();
    workers.wait_for_errors(20);
    server.restart();
    recovered = base::monotonic_now();
  }
  workers.wait_for_decisions(1500);
  const Tally tally = workers.stop();
  report_recovery("kill -9 and restart, no persistence", tally, recovered);
  expect_prompt(tally, kLongTimeout);
  const std::vector<Question> questions = default_questions();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    // Usage since the last loss is stored; earlier usage is not.
    const std::size_t used = stored_usage(limiter, questions[i]);
    EXPECT_LE(used, tally.allowed(i) + tally.unknown(i));
    EXPECT_GE(used, tally.allowed(i, recovered, Time::max()));
    EXPECT_LE(tally.allowed(i), (kLosses + 1) * questions[i].quota.capacity());
  }
  EXPECT_GT(tally.denied(), 0U);
}

TEST(Restart, RedisMayStartAfterTheLimiter) {
  RedisServer server;
  server.kill();
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  Workers workers(limiter, default_questions());
  workers.wait_for_errors(100);
  server.restart();
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(500);
  const Tally tally = workers.stop();
  report_recovery("Redis comes up later", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
  EXPECT_EQ(tally.errors(), tally.errors(ErrorCode::Unavailable));
}

TEST(Restart, APasswordChangedMeanwhileIsMisconfigured) {
  RedisServer server({.password = "first"});
  servers::Session admin = server.session();
  Events events;
  RedisOptions options = long_timeout_options(server.url());
  options.on_event = events.listener();
  SharedLimiter limiter = open_limiter(options);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(300);
  admin.must({"CONFIG", "SET", "requirepass", "second"});
  admin.must({"CLIENT", "KILL", "TYPE", "normal"});
  events.wait_for("WRONGPASS");
  workers.wait_for_errors(100);
  admin.must({"CONFIG", "SET", "requirepass", "first"});
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  report_recovery("password changed and changed back", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
  EXPECT_GT(tally.errors(ErrorCode::Misconfigured), 0U);
  EXPECT_EQ(events.text().find("first"), std::string::npos) << events.text();
}

TEST(Restart, CountersAreNeverCountedTwice) {
  RedisServer server({.persistence = Persistence::AppendOnly});
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  const std::vector<Question> questions{{"one", kBucket}, {"two", kBucket}};
  Workers workers(limiter, questions, [](SharedLimiter& asked, const Question& question) {
    const Result<std::int64_t> sum = asked.counters().add(question.key, 1);
    return sum ? Result<Decision>(Decision::allow(0, 0, Duration{0})) : sum.error();
  });
  workers.wait_for_decisions(300);
  server.kill();
  workers.wait_for_errors(20);
  server.restart();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  report("counters, kill -9 and restart", tally.summary());
  expect_prompt(tally, kLongTimeout);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Result<std::int64_t> sum = limiter.counters().get(questions[i].key);
    ASSERT_TRUE(sum) << text_of(sum.error());
    EXPECT_GE(*sum, static_cast<std::int64_t>(tally.allowed(i)));
    EXPECT_LE(*sum, static_cast<std::int64_t>(tally.allowed(i) + tally.unknown(i)));
  }
}

TEST(Restart, EveryNewConnectionSelectsTheDatabase) {
  RedisServer server({.persistence = Persistence::AppendOnly});
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url() + "/3"));
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(300);
  server.restart();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
  EXPECT_EQ(server.must({"DBSIZE"}).integer, 0);
}

}  // namespace
}  // namespace penstock::chaos
