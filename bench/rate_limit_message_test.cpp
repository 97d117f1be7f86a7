#include "bench/rate_limit_message.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::bench {
namespace {

using namespace std::string_literals;

TEST(RateLimitMessage, ReadsDescriptorsAsTheyAreTyped) {
  const Result<DescriptorPattern> pattern = parse_descriptor("tenant=gold,remote_address={key}");
  ASSERT_TRUE(pattern);
  ASSERT_EQ(pattern->size(), 2U);
  EXPECT_EQ((*pattern)[0].name, "tenant");
  EXPECT_EQ((*pattern)[0].value, "gold");
  EXPECT_EQ((*pattern)[1].value, "{key}");
  for (const char* text : {"", "a", "=b", "a=b,", "a=b,c"}) {
    EXPECT_FALSE(parse_descriptor(text)) << text;
  }
}

TEST(RateLimitMessage, KnowsTheUnitsOfEnvoy) {
  const auto unit_of = [](const Quota& quota) {
    const Result<RequestLimit> limit = RequestLimit::of(quota);
    return limit ? limit->unit : 0;
  };
  EXPECT_EQ(unit_of(per_second(5).fixed_window()), 1U);
  EXPECT_EQ(unit_of(per_minute(5).fixed_window()), 2U);
  EXPECT_EQ(unit_of(per_hour(5).fixed_window()), 3U);
  EXPECT_EQ(unit_of(per_day(5).fixed_window()), 4U);
  EXPECT_EQ(unit_of(per(5, std::chrono::seconds{2}).fixed_window()), 0U);
  EXPECT_EQ(unit_of(per_second(5)), 0U);
}

// Byte by byte, from the protocol buffers specification.
TEST(RateLimitMessage, WritesTheRequest) {
  std::string out;
  append_rate_limit_request(
      out,
      {.domain = "edge",
       .descriptors = {{{.name = "a", .value = "b"}}, {{.name = "k", .value = "{key}"}}},
       .limit = RequestLimit{.requests = 300, .unit = 2}},
      "me");
  EXPECT_EQ(out,
            "\x0a\x04"
            "edge"
            "\x12\x08\x0a\x06\x0a\x01"
            "a\x12\x01"
            "b"
            "\x12\x10\x0a\x07\x0a\x01"
            "k\x12\x02"
            "me\x12\x05\x08\xac\x02\x10\x02"s);
}

TEST(RateLimitMessage, FindsTheCodeAmongOtherFields) {
  EXPECT_EQ(read_overall_code("\x08\x01"s).value(), OverallCode::Ok);
  EXPECT_EQ(read_overall_code("\x08\x02\x12\x02\x08\x01"s).value(), OverallCode::OverLimit);
  EXPECT_EQ(read_overall_code("\x12\x02\x08\x02\x08\x01"s).value(), OverallCode::Ok);
  EXPECT_EQ(read_overall_code("\x19"
                              "12345678\x08\x02"s)
                .value(),
            OverallCode::OverLimit);
  EXPECT_EQ(read_overall_code("\x15"
                              "1234\x10\x80\x01\x08\x02"s)
                .value(),
            OverallCode::OverLimit);
  EXPECT_EQ(read_overall_code("").value(), OverallCode::Unknown);
}

TEST(RateLimitMessage, RejectsTruncatedAndUnknownMessages) {
  for (const std::string& message : {"\x08"s, "\x08\x80"s, "\x12\x05"s, "\x0b"s, "\x19\x01"s}) {
    EXPECT_FALSE(read_overall_code(message));
  }
}

RC_GTEST_PROP(RateLimitMessage, EndsForAnyBytes, (const std::string& bytes)) {
  static_cast<void>(read_overall_code(bytes));
}

}  // namespace
}  // namespace penstock::bench
