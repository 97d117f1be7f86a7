#include "redis/sentinel.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using Type = resp::Value::Type;

resp::Value strings(const std::vector<std::string>& texts) {
  resp::Value value{.type = Type::Array};
  for (const std::string& text : texts)
    value.elements.push_back({.type = Type::String, .text = text});
  return value;
}

TEST(SentinelOrder, QueriesTheLastResponderFirst) {
  const HostPort a{.host = "a", .port = 1};
  const HostPort b{.host = "b", .port = 2};
  SentinelOrder order({a, b});
  EXPECT_EQ(order.front(), a);
  order.on_failure(a);
  EXPECT_EQ(order.front(), b);
  order.on_failure(a);
  EXPECT_EQ(order.front(), b);
  order.on_failure(b);
  EXPECT_EQ(order.front(), a);
}

TEST(Sentinel, ReadsTheAddressOfTheMaster) {
  const Result<HostPort> found = read_master_address(strings({"10.0.0.1", "6380"}), "main");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (HostPort{.host = "10.0.0.1", .port = 6380}));
}

TEST(Sentinel, ReportsWhyThereIsNoAddress) {
  EXPECT_EQ(read_master_address({}, "main").error(),
            (Error{ErrorCode::Misconfigured, "knows no master \"main\""}));
  const resp::Value noauth{.type = Type::Error, .text = "NOAUTH Authentication required."};
  EXPECT_EQ(read_master_address(noauth, "main").error().code, ErrorCode::Misconfigured);
  for (const resp::Value& reply :
       {strings({}), strings({"a"}), strings({"a", "b"}), strings({"", "1"}), strings({"a", "0"}),
        strings({"a", "70000"})}) {
    EXPECT_EQ(read_master_address(reply, "main").error().code, ErrorCode::Protocol);
  }
}

TEST(Sentinel, ReadsTheFailoverMessage) {
  EXPECT_EQ(read_switch_master(strings({"message", "+switch-master", "main h1 1 h2 2"}), "main"),
            (HostPort{.host = "h2", .port = 2}));
}

TEST(Sentinel, IgnoresOtherMessages) {
  for (const resp::Value& message :
       {strings({"message", "+switch-master", "other h1 1 h2 2"}),
        strings({"subscribe", "+switch-master", "1"}),
        strings({"message", "+switch-master", "main"}),
        strings({"message", "+switch-master", "main h1 1 h2 x"}), strings({})}) {
    EXPECT_EQ(read_switch_master(message, "main"), std::nullopt);
  }
}

}  // namespace
}  // namespace penstock::redis
