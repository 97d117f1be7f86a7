#include "resp_harness/test_client.hpp"
#include "wire/resp/commands.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::wire::resp {
namespace {

using Words = TestClient::Words;

struct ReservationCommands : ::testing::Test {
  std::string ask(const Words& words) { return test_client.ask(words); }

  TestServer server;
  TestClient test_client{server};
};

TEST_F(ReservationCommands, ReserveAndCommit) {
  const Words reserve{"PENSTOCK.RESERVE", "r", "6", "60000", "KEY", "k", "10/h fixed_window"};
  const std::string first = ask(reserve);
  EXPECT_TRUE(first.starts_with("*9\r\n:0\r\n:10\r\n:4\r\n:-1\r\n:")) << first;
  EXPECT_TRUE(first.ends_with("$-1\r\n$13\r\nwithin_limits\r\n$1\r\nr\r\n:60000\r\n")) << first;
  EXPECT_EQ(
      ask(reserve),
      "*9\r\n:0\r\n:-1\r\n:-1\r\n:-1\r\n:-1\r\n$-1\r\n$8\r\nrepeated\r\n$1\r\nr\r\n:60000\r\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ask({"PENSTOCK.COMMIT", "r", "2"}), "*4\r\n$9\r\ncommitted\r\n:6\r\n:2\r\n:0\r\n");
  }
  EXPECT_TRUE(ask({"PENSTOCK.COMMIT", "r", "3"}).starts_with("-CONFLICT "));
  EXPECT_TRUE(ask({"PENSTOCK.CANCEL", "r"}).starts_with("-CONFLICT "));
  EXPECT_TRUE(ask(reserve).starts_with("-CONFLICT "));
  EXPECT_TRUE(ask({"PENSTOCK.CANCEL", "x"}).starts_with("-NOTFOUND "));
}

TEST_F(ReservationCommands, ReserveByRulesAndCancel) {
  const Words reserve{"penstock.reserve", "*",    "2", "1000", "domain", "api", "path",
                      "/search",          "user", "u"};
  EXPECT_TRUE(ask(reserve).starts_with("*9\r\n:0\r\n:2\r\n:0\r\n"));
  const std::string refused = ask(reserve);
  EXPECT_TRUE(refused.starts_with("*9\r\n:1\r\n:2\r\n:0\r\n")) << refused;
  EXPECT_TRUE(refused.ends_with("$10\r\nover_limit\r\n$-1\r\n:-1\r\n")) << refused;
}

TEST_F(ReservationCommands, KeepTheirOrderInAPipeline) {
  test_client.send(
      TestClient::encoded({"PENSTOCK.RESERVE", "r", "6", "60000", "KEY", "k", "10/h"}) +
      TestClient::encoded({"PENSTOCK.CANCEL", "r"}) +
      TestClient::encoded({"PENSTOCK.CANCEL", "r"}));
  const std::string cancelled = "*4\r\n$9\r\ncancelled\r\n:6\r\n:0\r\n:-1\r\n";
  EXPECT_TRUE(test_client.output().ends_with(cancelled + cancelled));
}

TEST_F(ReservationCommands, RejectMalformedArguments) {
  for (const Words& words : {
           Words{"PENSTOCK.RESERVE", "", "6", "1", "KEY", "k", "1/s"},
           Words{"PENSTOCK.RESERVE", "r", "x", "1", "KEY", "k", "1/s"},
           Words{"PENSTOCK.RESERVE", "r", "6", "0", "KEY", "k", "1/s"},
           Words{"PENSTOCK.RESERVE", "r", "6", "1", "LOCK", "k", "1/s"},
           Words{"PENSTOCK.RESERVE", "r", "6", "1", "KEY", "k", "often"},
           Words{"PENSTOCK.RESERVE", "r", "6", "1", "KEY", "k"},
           Words{"PENSTOCK.RESERVE", "r", "6", "1", "DOMAIN", "api", "path"},
           Words{"PENSTOCK.COMMIT", "r", "-1"},
           Words{"PENSTOCK.CANCEL", std::string(201, 'x')},
       }) {
    EXPECT_TRUE(ask(words).starts_with("-ERR ")) << words[0];
  }
}

TEST_F(ReservationCommands, AcquireAndReleasePermits) {
  EXPECT_EQ(ask({"PENSTOCK.ACQUIRE", "k", "a", "1", "5000"}),
            "*6\r\n:0\r\n$1\r\na\r\n:1\r\n:1\r\n:5000\r\n:-1\r\n");
  EXPECT_EQ(ask({"PENSTOCK.ACQUIRE", "k", "*", "1", "5000"}),
            "*6\r\n:1\r\n$-1\r\n:1\r\n:1\r\n:-1\r\n:5000\r\n");
  EXPECT_EQ(ask({"PENSTOCK.RENEW", "k", "a", "9000"}), ":9000\r\n");
  EXPECT_EQ(ask({"PENSTOCK.RELEASE", "k", "a"}), ":1\r\n");
  EXPECT_EQ(ask({"PENSTOCK.RELEASE", "k", "a"}), ":0\r\n");
  EXPECT_EQ(ask({"PENSTOCK.RENEW", "k", "a", "9000"}), ":-1\r\n");
  EXPECT_TRUE(ask({"PENSTOCK.ACQUIRE", "k", "a", "0", "5000"}).starts_with("-ERR "));
  EXPECT_TRUE(ask({"PENSTOCK.ACQUIRE", "k", "a", "1", "0"}).starts_with("-ERR "));
  EXPECT_TRUE(ask({"PENSTOCK.RENEW", "", "a", "1"}).starts_with("-ERR "));
}

}  // namespace
}  // namespace penstock::wire::resp
