#include "http/json_writer.hpp"

#include "http/json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace penstock::http {
namespace {

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().name("a").number(-1).name("b").begin_array().number(2U).null();
  writer.begin_object().end_object().text("{").text(":").boolean(true).end_array();
  writer.name("c").begin_array().end_array().name("d").text("").end_object();
  EXPECT_EQ(text, R"({"a":-1,"b":[2,null,{},"{",":",true],"c":[],"d":""})");
}

TEST(JsonWriter, WritesThousandthsWithoutTrailingZeros) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_array().thousandths(0).thousandths(12'345).thousandths(5).thousandths(1'500);
  writer.thousandths(2'000).thousandths(10'020).end_array();
  EXPECT_EQ(text, "[0,12.345,0.005,1.5,2,10.02]");
}

RC_GTEST_PROP(JsonWriterProperty, AnyTextIsReadAsItWasWritten, ()) {
  const auto value = *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
  std::string text;
  JsonWriter(text).begin_array().text(value).text("x").end_array();
  const Result<Json> json = parse_json(text);
  RC_ASSERT(json.has_value());
  RC_ASSERT((*json)[0] == value);
}

RC_GTEST_PROP(JsonWriterProperty, AnyBytesMakeJson, (const std::string& value)) {
  std::string text;
  JsonWriter(text).begin_array().text("\xFF\xC3" + value).end_array();
  RC_ASSERT(parse_json(text).has_value());
}

}  // namespace
}  // namespace penstock::http
