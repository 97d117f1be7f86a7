#include "redis_store/requests.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;

std::string complaint(const RedisOptions& options) {
  const Result<redis::Options> client = client_options(options);
  return client ? "none" : client.error().detail;
}

TEST(RedisOptions, DefaultsAreValid) { EXPECT_EQ(complaint({}), "none"); }

TEST(RedisOptions, AreRejectedWithTheirNameAndValue) {
  EXPECT_NE(complaint({.url = "http://x"}).find("redis://"), std::string::npos);
  EXPECT_EQ(complaint({.timeout = Duration{999}}),
            "RedisOptions: timeout 999 us must be at least 1 ms");
  EXPECT_EQ(complaint({.key_prefix = ""}), "RedisOptions: key_prefix must not be empty");
  EXPECT_EQ(complaint({.key_prefix = "a{b"}),
            "RedisOptions: key_prefix \"a{b\" has one of the characters {}*?[\\ or a space");
  EXPECT_EQ(complaint({.ca_file = "/nowhere/ca.pem"}),
            "RedisOptions: ca_file \"/nowhere/ca.pem\": no such file");
  EXPECT_EQ(complaint({.max_waiting = 0}), "RedisOptions: max_waiting 0 must be at least 1");
  EXPECT_EQ(complaint({.breaker_failures = 0}),
            "RedisOptions: breaker_failures 0 must be at least 1");
  EXPECT_EQ(complaint({.breaker_max_pause = milliseconds{1}}),
            "RedisOptions: breaker_max_pause 1000 us is below breaker_min_pause");
}

TEST(RequestFor, NamesTheLimitsOfAKeyAndGuardsTheKey) {
  const Limits limits = Limits::make({{"s", per_second(1)}, {"d", per_day(5)}}).value();
  const CheckRequest request = request_for(KeyLayout("p"), "alice", limits, Cost{2});
  EXPECT_EQ(request.guard, "p:1:l:{alice}");
  ASSERT_EQ(request.checks.size(), 2U);
  EXPECT_EQ(request.checks[0].key, "p:1:l:{alice}:s");
  EXPECT_EQ(request.checks[1].quota, Quota(per_day(5)));
  EXPECT_EQ(request.checks[1].cost, Cost{2});
}

}  // namespace
}  // namespace penstock::redis_store
