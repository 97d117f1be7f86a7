#include "http/json_object_reader.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace penstock::http {
namespace {

std::string parse_error_of(std::string_view text) {
  const Result<Json> json = parse_json(text);
  return json ? "" : json.error().detail;
}

TEST(ParseJson, RejectsMalformedJson) {
  EXPECT_EQ(parse_error_of(""), "body: empty; expected JSON");
  EXPECT_EQ(parse_error_of("{\"a\":}"), "body: not usable as JSON: wrong at byte 6");
  EXPECT_EQ(parse_error_of("{\"a\":1,\"a\":2}"), "body: not usable as JSON: \"a\" is given twice");
  EXPECT_EQ(parse_error_of("{\"a\":1,\"b\":{\"a\":2}}"), "");
  EXPECT_EQ(parse_error_of(std::string(9, '[') + std::string(9, ']')),
            "body: not usable as JSON: deeper than 8 levels");
  EXPECT_EQ(parse_error_of(std::string(8, '[') + std::string(8, ']')), "");
  EXPECT_EQ(parse_error_of("1e999"), "body: not usable as JSON: a number is out of range");
  EXPECT_NE(parse_error_of("\"\xFF\""), "");
  EXPECT_NE(parse_error_of("{} {}"), "");
  EXPECT_EQ(parse_error_of("[1,[2,{\"a\":[{}]}],3]"), "");
}

TEST(ParseJson, NumbersAreShort) {
  const std::string digits(65, '1');
  EXPECT_EQ(parse_error_of("[1," + digits + "]"), "body: not usable as JSON: a number is too long");
  EXPECT_EQ(parse_error_of("{\"a\\\"" + digits + "\":\"" + digits + "\\\\\"}"), "");
  EXPECT_EQ(parse_error_of("\"\\\\\"" + digits), "body: not usable as JSON: a number is too long");
}

TEST(ParseJson, DepthCostsNoStack) { EXPECT_NE(parse_error_of(std::string(1'000'000, '[')), ""); }

std::string members(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  return text;
}

TEST(ParseJson, ObjectsAreBounded) {
  EXPECT_EQ(parse_error_of("{" + members(100) + "}"), "");
  EXPECT_EQ(parse_error_of("{" + members(100) + ",\"x\":1}"),
            "body: not usable as JSON: more than 100 members in one object");
}

TEST(ParseJson, BoundsHoldForEachObjectAfterAnother) {
  const std::string object = "{" + members(99) + ",\"more\":{" + members(100) + "}}";
  EXPECT_EQ(parse_error_of("[" + object + "," + object + "]"), "");
  EXPECT_EQ(parse_error_of("[" + object + ",{" + members(100) + ",\"7\":1}]"),
            "body: not usable as JSON: more than 100 members in one object");
  EXPECT_EQ(parse_error_of("[" + object + ",{\"a\":{\"b\":1},\"a\":1}]"),
            "body: not usable as JSON: \"a\" is given twice");
}

TEST(ParseJson, ValuesOfTheWholeTextAreBounded) {
  const JsonLimits limits{.values = 4};
  EXPECT_TRUE(parse_json("[1,{\"a\":2}]", limits));
  for (const std::string_view text : {"[1,{\"a\":2},3]", "[1,2,3,[]]", "[1,2,3,{}]"}) {
    const Result<Json> json = parse_json(text, limits);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().detail, "body: not usable as JSON: more than 4 values");
  }
}

TEST(ParseJson, KeepsWhatWasWritten) {
  const std::string text = R"({"z":[1,-2,0.5,"é",null,true,[],{}],"a":{"b":{"c":[[1],[2]]}}})";
  EXPECT_EQ(to_text(parse_json(text).value()), text);
}

RC_GTEST_PROP(ParseJsonProperty, AnyBytesAreParsedOrRejected, (const std::string& text)) {
  const Result<Json> json = parse_json(text);
  if (json) RC_ASSERT(parse_json(to_text(*json)).has_value());
}

template <class Take>
std::string complaint_about(const std::string& text, Take take) {
  const Result<Json> json = parse_json(text);
  if (!json) return json.error().detail;
  JsonObjectReader object(*json, "at.");
  take(object);
  const Result<void> read = object.finish();
  return read ? "" : read.error().detail;
}

TEST(JsonObjectReader, CostIsAWholeNumber) {
  const auto cost = [](JsonObjectReader& object) { static_cast<void>(object.cost()); };
  EXPECT_EQ(complaint_about("{\"cost\":4294967295}", cost), "");
  EXPECT_EQ(complaint_about("{\"cost\":-1}", cost),
            "at.cost: -1 must be a whole number from 0 to 4294967295");
  EXPECT_EQ(complaint_about("{\"cost\":4294967296}", cost),
            "at.cost: 4294967296 must be a whole number from 0 to 4294967295");
  EXPECT_EQ(complaint_about("{\"cost\":1.5}", cost),
            "at.cost: 1.5 must be a whole number from 0 to 4294967295");
  EXPECT_EQ(complaint_about("{\"cost\":\"3\"}", cost),
            "at.cost: \"3\" must be a whole number from 0 to 4294967295");
}

TEST(JsonObjectReader, NullIsRejectedUnlessItMeansAbsent) {
  EXPECT_EQ(complaint_about("{\"cost\":null}",
                            [](JsonObjectReader& object) { static_cast<void>(object.cost()); }),
            "at.cost: must not be null; leave it out");
  const Json json = parse_json("{\"cost\":null}").value();
  JsonObjectReader object(json, "", OnNull::Ignore);
  EXPECT_FALSE(object.cost());
  EXPECT_TRUE(object.finish());
}

TEST(JsonObjectReader, UnknownMembersAreNamedWithTheKnownOnes) {
  EXPECT_EQ(complaint_about("{\"costt\":1}",
                            [](JsonObjectReader& object) {
                              static_cast<void>(object.cost());
                              static_cast<void>(object.text("key"));
                            }),
            "at.costt: unknown member; did you mean 'cost'?");
  EXPECT_EQ(complaint_about("{\"priority\":1}",
                            [](JsonObjectReader& object) {
                              static_cast<void>(object.cost());
                              static_cast<void>(object.text("key"));
                            }),
            "at.priority: unknown member; known are cost, key");
}

TEST(JsonObjectReader, AMisspeltMemberIsNamedRatherThanTheMissingOne) {
  EXPECT_EQ(complaint_about("{\"atributes\":{}}",
                            [](JsonObjectReader& object) {
                              static_cast<void>(object.required_text("attributes", 10));
                            }),
            "at.atributes: unknown member; did you mean 'attributes'?");
}

TEST(JsonObjectReader, QuotaIsReadWithItsParts) {
  const auto quota = [](JsonObjectReader& object) { static_cast<void>(object.quota()); };
  EXPECT_EQ(complaint_about("{\"limit\":\"100/m\",\"burst\":20,\"algorithm\":\"gcra\"}", quota),
            "");
  EXPECT_EQ(complaint_about("{\"burst\":20}", quota), "at.burst: needs a limit beside it");
  EXPECT_EQ(complaint_about("{\"limit\":\"0/m\"}", quota).find("at.limit: \"0/m\": "), 0U);
  EXPECT_EQ(complaint_about("{\"limit\":\"x\"}", quota).find("at.limit: \"x\", column 1: "), 0U);
  EXPECT_EQ(complaint_about("{\"limit\":100}", quota), "at.limit: 100 must be a text");
}

TEST(JsonObjectReader, DurationsHaveUnitsAndBounds) {
  const auto duration = [](JsonObjectReader& object) {
    static_cast<void>(object.duration("for", std::chrono::milliseconds{1}, Days{36'500}));
  };
  EXPECT_EQ(complaint_about("{\"for\":\"10m\"}", duration), "");
  EXPECT_EQ(complaint_about("{\"for\":\"0s\"}", duration),
            "at.for: \"0s\" must be a time such as 250ms, 10s, 5m, 2h or 1d, from 1ms to 36500d");
  EXPECT_NE(complaint_about("{\"for\":\"99999999999999999d\"}", duration), "");
  EXPECT_NE(complaint_about("{\"for\":\"-1s\"}", duration), "");
}

TEST(JsonObjectReader, AnythingButAnObjectIsRejected) {
  EXPECT_EQ(complaint_about("[1]", [](JsonObjectReader&) {}), "at: [...] must be an object");
}

TEST(JsonObjectReader, LongValuesAreTruncatedInErrors) {
  const std::string text(10'000, 'x');
  EXPECT_LT(complaint_about("{\"cost\":\"" + text + "\"}",
                            [](JsonObjectReader& object) { static_cast<void>(object.cost()); })
                .size(),
            200U);
}

}  // namespace
}  // namespace penstock::http
