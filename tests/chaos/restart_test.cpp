#include "chaos/crowd.hpp"
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
  SharedLimiter limiter = open_limiter(patient(server.url()));
  Crowd crowd(limiter, usual_questions());
  crowd.wait_for_decisions(1000);
  server.kill();
  crowd.wait_for_errors(100);
  server.restart();
  const Time mended = base::monotonic_now();
  crowd.wait_for_decisions(1000);
  const Tally tally = crowd.stop();
  report_recovery("kill -9 and restart, append-only file", tally, mended);
  expect_sound(tally, usual_questions(), limiter, kPatientTimeout);
}

// Each loss forgives what was used so far: a whole limit at the most.
TEST(Restart, WithoutPersistenceEveryLossForgivesOneLimitAtTheMost) {
  constexpr std::size_t kLosses = 2;
  RedisServer server;
  SharedLimiter limiter = open_limiter(patient(server.url()));
  Crowd crowd(limiter, usual_questions());
  Time mended{};
  for (std::size_t i = 0; i < kLosses; ++i) {
    crowd.wait_for_decisions(1500);
    server.kill();
    crowd.wait_for_errors(20);
    server.restart();
    mended = base::monotonic_now();
  }
  crowd.wait_for_decisions(1500);
  const Tally tally = crowd.stop();
  report_recovery("kill -9 and restart, no persistence", tally, mended);
  expect_prompt(tally, kPatientTimeout);
  const std::vector<Question> questions = usual_questions();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    // What passed since the last loss is there; what was used before it is not.
    const std::size_t used = stored_usage(limiter, questions[i]);
    EXPECT_LE(used, tally.allowed(i) + tally.unknown(i));
    EXPECT_GE(used, tally.allowed(i, mended, Time::max()));
    EXPECT_LE(tally.allowed(i), (kLosses + 1) * questions[i].quota.capacity());
  }
  EXPECT_GT(tally.denied(), 0U);
}

TEST(Restart, RedisMayComeLaterThanTheLimiter) {
  RedisServer server;
  server.kill();
  SharedLimiter limiter = open_limiter(patient(server.url()));
  Crowd crowd(limiter, usual_questions());
  crowd.wait_for_errors(100);
  server.restart();
  const Time mended = base::monotonic_now();
  crowd.wait_for_decisions(500);
  const Tally tally = crowd.stop();
  report_recovery("Redis comes up later", tally, mended);
  expect_sound(tally, usual_questions(), limiter, kPatientTimeout);
  EXPECT_EQ(tally.errors(), tally.errors(ErrorCode::Unavailable));
}

TEST(Restart, APasswordThatIsChangedInBetweenIsForTheOperator) {
  RedisServer server({.password = "first"});
  servers::Session admin = server.session();
  Events events;
  RedisOptions options = patient(server.url());
  options.on_event = events.listener();
  SharedLimiter limiter = open_limiter(options);
  Crowd crowd(limiter, usual_questions());
  crowd.wait_for_decisions(300);
  admin.must({"CONFIG", "SET", "requirepass", "second"});
  admin.must({"CLIENT", "KILL", "TYPE", "normal"});
  events.wait_for("WRONGPASS");
  crowd.wait_for_errors(100);
  admin.must({"CONFIG", "SET", "requirepass", "first"});
  const Time mended = base::monotonic_now();
  crowd.wait_for_decisions(300);
  const Tally tally = crowd.stop();
  report_recovery("password changed and changed back", tally, mended);
  expect_sound(tally, usual_questions(), limiter, kPatientTimeout);
  EXPECT_GT(tally.errors(ErrorCode::Misconfigured), 0U);
  EXPECT_EQ(events.text().find("first"), std::string::npos) << events.text();
}

TEST(Restart, CountersAreNeverCountedTwice) {
  RedisServer server({.persistence = Persistence::AppendOnly});
  SharedLimiter limiter = open_limiter(patient(server.url()));
  const std::vector<Question> questions{{"one", kBucket}, {"two", kBucket}};
  Crowd crowd(limiter, questions, [](SharedLimiter& asked, const Question& question) {
    const Result<std::int64_t> sum = asked.counters().add(question.key, 1);
    return sum ? Result<Decision>(Decision::allow(0, 0, Duration{0})) : sum.error();
  });
  crowd.wait_for_decisions(300);
  server.kill();
  crowd.wait_for_errors(20);
  server.restart();
  crowd.wait_for_decisions(300);
  const Tally tally = crowd.stop();
  report("counters, kill -9 and restart", tally.summary());
  expect_prompt(tally, kPatientTimeout);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Result<std::int64_t> sum = limiter.counters().get(questions[i].key);
    ASSERT_TRUE(sum) << text_of(sum.error());
    EXPECT_GE(*sum, static_cast<std::int64_t>(tally.allowed(i)));
    EXPECT_LE(*sum, static_cast<std::int64_t>(tally.allowed(i) + tally.unknown(i)));
  }
}

TEST(Restart, EveryNewConnectionChoosesTheDatabaseAgain) {
  RedisServer server({.persistence = Persistence::AppendOnly});
  SharedLimiter limiter = open_limiter(patient(server.url() + "/3"));
  Crowd crowd(limiter, usual_questions());
  crowd.wait_for_decisions(300);
  server.restart();
  crowd.wait_for_decisions(300);
  const Tally tally = crowd.stop();
  expect_sound(tally, usual_questions(), limiter, kPatientTimeout);
  EXPECT_EQ(server.must({"DBSIZE"}).integer, 0);
}

}  // namespace
}  // namespace penstock::chaos
