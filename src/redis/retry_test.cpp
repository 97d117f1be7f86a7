#include "redis/retry.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;

Retry retry(std::string_view text) { return retry_after(read_server_error(text), text); }
ErrorCode code(std::string_view text) {
  return error_for_caller(read_server_error(text), text).code;
}

TEST(Retry, AForgottenScriptIsSentWithItsText) {
  EXPECT_EQ(retry("NOSCRIPT No matching script. Please use EVAL."), Retry::WithScriptText);
}

TEST(Retry, WhatPassesIsTriedAgainLater) {
  for (const char* text :
       {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.",
        "TRYAGAIN Multiple keys", "MASTERDOWN Link with MASTER is down"}) {
    EXPECT_EQ(retry(text), Retry::Later) << text;
    EXPECT_EQ(code(text), ErrorCode::Unavailable) << text;
  }
}

TEST(Retry, AReplicaIsLeftForTheMaster) {
  EXPECT_EQ(retry("READONLY You can't write against a read only replica."), Retry::AfterReconnect);
  EXPECT_EQ(retry("ERR Error running script (call to f_1): @user_script:1: -READONLY You can't"),
            Retry::AfterReconnect);
}

TEST(Retry, WhatLastsIsReportedAtOnceAndWasNotExecuted) {
  for (const char* text :
       {"OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots",
        "NOREPLICAS Not enough good replicas to write.",
        "ERR Error running script (call to f_1): @user_script:1: -OOM command"}) {
    EXPECT_EQ(retry(text), Retry::No) << text;
    EXPECT_EQ(code(text), ErrorCode::Unavailable) << text;
  }
}

TEST(Retry, WhatMayHaveBeenExecutedIsNeverSentAgain) {
  for (const char* text : {"ERR something", "WRONGTYPE Operation against a key", "NOAUTH x", ""}) {
    EXPECT_EQ(retry(text), Retry::No) << text;
  }
  EXPECT_EQ(code("ERR something"), ErrorCode::Protocol);
  EXPECT_EQ(code("WRONGTYPE Operation against a key"), ErrorCode::Protocol);
  EXPECT_EQ(code("NOPERM this user"), ErrorCode::Misconfigured);
}

TEST(Retry, AClusterTakenForASingleServerIsToldApart) {
  EXPECT_EQ(retry("MOVED 1 127.0.0.1:7000"), Retry::No);
  EXPECT_EQ(code("MOVED 1 127.0.0.1:7000"), ErrorCode::Unavailable);
}

TEST(Retry, PausesGrowUpToALimit) {
  EXPECT_EQ(retry_pause(1), 2ms);
  EXPECT_EQ(retry_pause(2), 4ms);
  EXPECT_EQ(retry_pause(6), 64ms);
  EXPECT_EQ(retry_pause(60), 64ms);
}

}  // namespace
}  // namespace penstock::redis
