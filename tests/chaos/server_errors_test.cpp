// Error replies of a server in place of a decision.

#include "chaos/workers.hpp"
#include "servers/redis_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::RedisServer;
using servers::Session;

constexpr const char* kClosedPort = "1";  // a port without a listener

TEST(ServerErrors, FlushedScriptsCauseNoErrors) {
  RedisServer server;
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  Session admin = server.session();
  for (int i = 0; i < 100; ++i) {
    admin.must({"SCRIPT", "FLUSH"});
    workers.wait_for_decisions(10);
  }
  const Tally tally = workers.stop();
  report("SCRIPT FLUSH in a loop",
         tally.summary() + ", " + std::to_string(limiter.stats().retries) + " sent again");
  EXPECT_EQ(tally.errors(), 0U);
  EXPECT_GT(limiter.stats().retries, 0U);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

TEST(ServerErrors, AManuallyDemotedMasterIsNotUsed) {
  RedisServer server;
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(500);
  server.must({"REPLICAOF", "127.0.0.1", kClosedPort});
  const Time demoted = base::monotonic_now();
  workers.wait_for_errors(200);
  const Time before_recovery = base::monotonic_now();
  server.must({"REPLICAOF", "NO", "ONE"});
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(500);
  const Tally tally = workers.stop();
  report_recovery("REPLICAOF by hand", tally, recovered);
  for (const Answer& answer : tally.answers()) {
    if (answer.asked <= demoted || answer.answered >= before_recovery) continue;
    ASSERT_TRUE(answer.error) << "an answer from a server that is no longer the master";
  }
  EXPECT_EQ(tally.errors(), tally.errors(ErrorCode::Unavailable));
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

TEST(ServerErrors, AManuallyDemotedMasterIsNotUsedForCounterReads) {
  RedisServer server;
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  wait_until_works(limiter);
  ASSERT_TRUE(limiter.counters().add("n", 7));
  server.must({"REPLICAOF", "127.0.0.1", kClosedPort});
  const Result<std::int64_t> answer = limiter.counters().get("n");
  EXPECT_FALSE(answer) << *answer;
  server.must({"REPLICAOF", "NO", "ONE"});
  wait_until_works(limiter);
  EXPECT_EQ(limiter.counters().get("n").value(), 7);
}

TEST(ServerErrors, AFullServerIsNamedAndChargesNothing) {
  RedisServer server({.config = {"maxmemory-policy noeviction"}});
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(500);
  server.must({"CONFIG", "SET", "maxmemory", "1"});
  workers.wait_for_errors(200);
  server.must({"CONFIG", "SET", "maxmemory", "0"});
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(500);
  const Tally tally = workers.stop();
  report_recovery("out of memory", tally, recovered);
  EXPECT_GT(tally.errors(), 0U);
  for (const Answer& answer : tally.answers()) {
    if (!answer.error) continue;
    ASSERT_EQ(answer.error->code, ErrorCode::Unavailable) << answer.error->detail;
    ASSERT_NE(answer.error->detail.find("OOM"), std::string::npos) << answer.error->detail;
  }
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

// Evicted keys start afresh; operators see this in evicted_keys.
TEST(ServerErrors, AServerThatEvictsKeepsAnswering) {
  RedisServer server({.config = {"maxmemory-policy allkeys-lru"}});
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  wait_until_works(limiter);
  const std::size_t used = std::stoul(server.info("used_memory"));
  server.must({"CONFIG", "SET", "maxmemory", std::to_string(used + (std::size_t{1} << 20U))});
  constexpr std::size_t kBatch = 200;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 100 * kBatch; ++i) keys.push_back("subject-" + std::to_string(i));
  std::vector<Result<Decision>> results(kBatch, Decision{});
  for (std::size_t start = 0; start < keys.size(); start += kBatch) {
    std::vector<Check> checks;
    for (std::size_t i = 0; i < kBatch; ++i) {
      checks.push_back({.key = keys[start + i], .quota = kBucket, .cost = {}});
    }
    limiter.check_each(checks, results);
    for (const Result<Decision>& result : results) {
      ASSERT_TRUE(result) << text_of(result);
      ASSERT_TRUE(result->allowed());
    }
  }
  const std::string evicted = server.info("evicted_keys");
  report("allkeys-lru", evicted + " of " + std::to_string(keys.size()) + " keys evicted");
  EXPECT_GT(std::stoul(evicted), 0U);
}

TEST(ServerErrors, TooManyClientsIsReportedWithTheServersError) {
  RedisServer server;
  Session admin = server.session();
  SharedLimiter limiter = open_limiter(long_timeout_options(server.url()));
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  workers.wait_for_decisions(300);
  admin.must({"CONFIG", "SET", "maxclients", "1"});
  admin.must({"CLIENT", "KILL", "TYPE", "normal"});
  workers.wait_for_errors(500);
  std::string detail;
  servers::wait_until("the words of the server", [&] {
    const Result<Decision> said = limiter.check("bystander", kBucket);
    if (!said) detail = text_of(said.error());
    return detail.find("max number of clients") != std::string::npos;
  });
  admin.must({"CONFIG", "SET", "maxclients", "1000"});
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  report("too many clients", detail);
  report_recovery("too many clients", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

}  // namespace
}  // namespace penstock::chaos
