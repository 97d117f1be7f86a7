#include "http/target.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

TEST(Segments, KeepEncodedSlashesTogether) {
  EXPECT_EQ(segments("/v1/keys/a%2Fb"), (std::vector<std::string_view>{"v1", "keys", "a%2Fb"}));
  EXPECT_EQ(segments("/v1/keys/"), (std::vector<std::string_view>{"v1", "keys", ""}));
  EXPECT_EQ(segments("/"), (std::vector<std::string_view>{""}));
}

TEST(Parameters, AreDecodedAndTakenOnce) {
  Parameters parameters("limit=100%2Fm+burst+20&rule=api/search&n=7");
  EXPECT_EQ(parameters.text("limit"), "100/m burst 20");
  EXPECT_EQ(parameters.text("rule"), "api/search");
  EXPECT_EQ(parameters.parse_number("n", 1, 10), 7);
  EXPECT_EQ(parameters.text("absent"), std::nullopt);
  EXPECT_TRUE(parameters.finish().has_value());
}

std::string complaint_about(std::string_view query) {
  Parameters parameters(query);
  static_cast<void>(parameters.text("rule"));
  static_cast<void>(parameters.parse_number("n", 1, 10));
  const Result<void> read = parameters.finish();
  return read ? "" : read.error().detail;
}

TEST(Parameters, TheRestIsInItsOrderAndEachNameOnce) {
  Parameters parameters("b=1&domain=api&a=x%20y");
  EXPECT_EQ(parameters.text("domain"), "api");
  const auto rest = parameters.take_rest();
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].first, "b");
  EXPECT_EQ(rest[1].second, "x y");
  EXPECT_TRUE(parameters.finish().has_value());
  Parameters twice("a=1&a=2");
  static_cast<void>(twice.take_rest());
  EXPECT_EQ(twice.finish().error().detail, "a: given twice");
}

TEST(Parameters, ErrorNamesTheValueAndItsPath) {
  EXPECT_EQ(complaint_about("n=11"), "n: \"11\" must be a whole number from 1 to 10");
  EXPECT_EQ(complaint_about("n="), "n: \"\" must be a whole number from 1 to 10");
  EXPECT_EQ(complaint_about("rule=a&rule=b"), "rule: given twice");
  EXPECT_EQ(complaint_about("roule=a"), "query: unknown parameter \"roule\"; known are rule, n");
  EXPECT_EQ(complaint_about("rule=%4"), "query: \"rule=%4\" is not percent-encoded");
  EXPECT_EQ(complaint_about("&&&&&&&&&&&&&&&&&&&&"), "");
  EXPECT_EQ(complaint_about("a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a"), "query: more than 16 parameters");
}

}  // namespace
}  // namespace penstock::http
