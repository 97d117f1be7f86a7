#include "penstock/decimal.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace penstock {
namespace {

std::int64_t nanos(std::string_view text) { return Decimal::parse(text).value().nanos(); }

TEST(Decimal, ParsesWholeNumbersAndPlaces) {
  EXPECT_EQ(nanos("0"), 0);
  EXPECT_EQ(nanos("12"), 12'000'000'000);
  EXPECT_EQ(nanos("+12"), 12'000'000'000);
  EXPECT_EQ(nanos("-0.25"), -250'000'000);
  EXPECT_EQ(nanos("1.000000001"), 1'000'000'001);
  EXPECT_EQ(nanos("007.50"), 7'500'000'000);
  EXPECT_EQ(nanos("-0"), 0);
}

TEST(Decimal, ParsesUpToItsEnds) {
  EXPECT_EQ(nanos("9223372036.854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(nanos("-9223372036.854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(nanos("00000000000000000000000000001"), Decimal::kNanosPerUnit);
}

TEST(Decimal, RejectsWhatDoesNotFit) {
  for (const std::string text : {"9223372036.854775808", "-9223372036.854775809", "10000000000",
                                 "99999999999999999999999999"}) {
    const Result<Decimal> result = Decimal::parse(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
    EXPECT_NE(result.error().detail.find(text), std::string::npos) << result.error().detail;
  }
}

TEST(Decimal, RejectsMoreThanNinePlaces) {
  const Result<Decimal> result = Decimal::parse("0.1234567890");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().detail.find("0.1234567890"), std::string::npos) << result.error().detail;
}

TEST(Decimal, RejectsWhatIsNoNumber) {
  using namespace std::string_literals;
  for (const std::string& text :
       {""s,   "-"s,  "+"s,    "."s,   "1."s,  ".5"s,  "-.5"s, "1.2.3"s, "1,5"s,      "1e3"s,
        " 1"s, "1 "s, "0x10"s, "nan"s, "inf"s, "--1"s, "+-1"s, "1.-5"s,  "\xd9\xa1"s, "1\0"s}) {
    EXPECT_FALSE(Decimal::parse(text)) << text;
  }
}

TEST(Decimal, PrintsTheShortestText) {
  EXPECT_EQ(to_string(Decimal{}), "0");
  EXPECT_EQ(to_string(Decimal::from_nanos(1)), "0.000000001");
  EXPECT_EQ(to_string(Decimal::from_nanos(-1)), "-0.000000001");
  EXPECT_EQ(to_string(Decimal::from_nanos(1'500'000'000)), "1.5");
  EXPECT_EQ(to_string(Decimal::from_nanos(-1'500'000'000)), "-1.5");
  EXPECT_EQ(to_string(Decimal::from_nanos(120'000'000'000)), "120");
  EXPECT_EQ(to_string(Decimal::from_nanos(10'050'000'000)), "10.05");
  EXPECT_EQ(to_string(Decimal::from_nanos(std::numeric_limits<std::int64_t>::min())),
            "-9223372036.854775808");
  EXPECT_EQ(to_string(Decimal::from_nanos(std::numeric_limits<std::int64_t>::max())),
            "9223372036.854775807");
}

RC_GTEST_PROP(Decimal, ParsesWhatItPrints, (std::int64_t value)) {
  const Decimal decimal = Decimal::from_nanos(value);
  RC_ASSERT(Decimal::parse(to_string(decimal)).value() == decimal);
}

RC_GTEST_PROP(Decimal, AnyTextIsANumberOrAnErrorThatQuotesIt, (std::string text)) {
  const Result<Decimal> result = Decimal::parse(text);
  if (!result) RC_ASSERT(result.error().detail.find(text) != std::string::npos);
}

TEST(Decimal, ComparesByValue) {
  EXPECT_LT(Decimal::parse("-1").value(), Decimal::parse("0.1").value());
  EXPECT_EQ(Decimal::parse("1.50").value(), Decimal::parse("1.5").value());
}

}  // namespace
}  // namespace penstock
