#include "redis/server_error.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

ErrorKind kind(std::string_view text) { return read_server_error(text).kind; }

TEST(ServerError, MovedAndAskHaveTheSlotAndTheNode) {
  const ServerError moved = read_server_error("MOVED 3999 127.0.0.1:6381");
  EXPECT_EQ(moved.kind, ErrorKind::Moved);
  EXPECT_EQ(moved.slot, 3999);
  EXPECT_EQ(moved.host, "127.0.0.1");
  EXPECT_EQ(moved.port, 6381);
  EXPECT_EQ(kind("ASK 3999 127.0.0.1:6381"), ErrorKind::Ask);
}

TEST(ServerError, AnEmptyHostMeansTheOneThatAnswered) {
  const ServerError moved = read_server_error("MOVED 0 :7000");
  EXPECT_EQ(moved.kind, ErrorKind::Moved);
  EXPECT_EQ(moved.host, "");
  EXPECT_EQ(moved.port, 7000);
}

TEST(ServerError, ReadsIpv6WithAndWithoutBrackets) {
  EXPECT_EQ(read_server_error("MOVED 1 ::1:7000").host, "::1");
  EXPECT_EQ(read_server_error("MOVED 1 [::1]:7000").host, "::1");
}

TEST(ServerError, AMalformedRedirectIsOther) {
  for (const char* text : {"MOVED", "MOVED 3999", "MOVED x 127.0.0.1:1", "MOVED 16384 127.0.0.1:1",
                           "MOVED 1 127.0.0.1:", "MOVED 1 127.0.0.1:70000", "ASK 1"}) {
    EXPECT_EQ(kind(text), ErrorKind::Other) << text;
  }
}

TEST(ServerError, CommandsThatWereNotExecutedMayBeSentAgain) {
  for (const char* text :
       {"TRYAGAIN Multiple keys request during rehashing of slot",
        "NOSCRIPT No matching script. Please use EVAL.", "CLUSTERDOWN Hash slot not served",
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "MISCONF Redis is configured to save RDB snapshots",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "NOREPLICAS Not enough good replicas to write.", "MASTERDOWN Link with MASTER is down",
        "BUSY Redis is busy running a script."}) {
    EXPECT_TRUE(was_not_executed(kind(text))) << text;
  }
}

TEST(ServerError, ErrorsForTheOperatorAreMisconfigured) {
  for (const char* text :
       {"NOAUTH Authentication required.", "WRONGPASS invalid username-password pair",
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "ERR ACL failure in script: User x has no permissions",
        "ERR The user executing the script can't run this command or subcommand script: 0f9f, on "
        "@user_script:2.",
        "ERR max number of clients reached"}) {
    EXPECT_EQ(kind(text), ErrorKind::Misconfigured) << text;
    EXPECT_FALSE(was_not_executed(kind(text))) << text;
  }
}

TEST(ServerError, FindsTheCodeInWrappedErrorsOfOldServers) {
  EXPECT_EQ(
      kind("ERR Error running script (call to f_abc): @user_script:1: -READONLY You can't write"),
      ErrorKind::Unavailable);
}

TEST(ServerError, AnythingElseMayHaveBeenExecuted) {
  EXPECT_EQ(kind("ERR unknown command"), ErrorKind::Other);
  EXPECT_EQ(kind(""), ErrorKind::Other);
  EXPECT_EQ(kind("OOMPH"), ErrorKind::Other);
  EXPECT_FALSE(was_not_executed(ErrorKind::Other));
  EXPECT_EQ(kind("WRONGTYPE Operation against a key holding the wrong kind of value"),
            ErrorKind::WrongType);
}

}  // namespace
}  // namespace penstock::redis
