#include "redis/server_error.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;

Retry retry(std::string_view text) { return retry_after(read_server_error(text), text); }
ErrorCode code(std::string_view text) {
  return error_for_caller(read_server_error(text), text).code;
}

TEST(Retry, AnUncachedScriptIsSentWithItsText) {
  EXPECT_EQ(retry("NOSCRIPT No matching script. Please use EVAL."), Retry::WithScriptText);
}

TEST(Retry, TransientErrorsAreRetriedLater) {
  for (const char* text :
       {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.",
        "TRYAGAIN Multiple keys", "MASTERDOWN Link with MASTER is down"}) {
    EXPECT_EQ(retry(text), Retry::Later) << text;
    EXPECT_EQ(code(text), ErrorCode::Unavailable) << text;
  }
}

TEST(Retry, AReplicaCausesAReconnect) {
  EXPECT_EQ(retry("READONLY You can't write against a read only replica."), Retry::AfterReconnect);
  EXPECT_EQ(retry("ERR Error running script (call to f_1): @user_script:1: -READONLY You can't"),
            Retry::AfterReconnect);
}

TEST(Retry, LastingErrorsAreReportedAtOnceAsNotExecuted) {
  for (const char* text :
       {"OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots",
        "NOREPLICAS Not enough good replicas to write.",
        "ERR Error running script (call to f_1): @user_script:1: -OOM command"}) {
    EXPECT_EQ(retry(text), Retry::No) << text;
    EXPECT_EQ(code(text), ErrorCode::Unavailable) << text;
  }
}

TEST(Retry, CommandsThatMayHaveBeenExecutedAreNotRetried) {
  for (const char* text : {"ERR something", "WRONGTYPE Operation against a key", "NOAUTH x", ""}) {
    EXPECT_EQ(retry(text), Retry::No) << text;
  }
  EXPECT_EQ(code("ERR something"), ErrorCode::Protocol);
  EXPECT_EQ(code("WRONGTYPE Operation against a key"), ErrorCode::Protocol);
  EXPECT_EQ(code("NOPERM this user"), ErrorCode::Misconfigured);
}

TEST(Retry, AClusterBehindASingleServerUrlIsReported) {
  EXPECT_EQ(retry("MOVED 1 127.0.0.1:7000"), Retry::No);
  EXPECT_EQ(code("MOVED 1 127.0.0.1:7000"), ErrorCode::Unavailable);
}

TEST(Retry, PausesGrowUpToALimit) {
  EXPECT_EQ(retry_pause(1, 10s), 2ms);
  EXPECT_EQ(retry_pause(2, 10s), 4ms);
  EXPECT_EQ(retry_pause(6, 10s), 64ms);
  EXPECT_EQ(retry_pause(60, 10s), 64ms);
}

TEST(Retry, RetriesUntilTheDeadline) {
  for (const std::chrono::microseconds deadline : {5ms, 20ms, 100ms, 125ms, 1000ms, 5000ms}) {
    std::chrono::microseconds now{0};
    unsigned attempts = 0;
    while (const auto pause = retry_pause(++attempts, deadline - now)) now += *pause;
    EXPECT_LT(now, deadline);
    EXPECT_GT(now, deadline - 2ms) << "gave up early";
    EXPECT_LT(attempts, 100U);
  }
}

}  // namespace
}  // namespace penstock::redis
