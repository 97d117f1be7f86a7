#include "base/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::base {
namespace {

TEST(PercentDecoded, DecodesBytesAndRejectsIncompleteEscapes) {
  EXPECT_EQ(percent_decoded("a%2Fb%20c+d"), "a/b c+d");
  EXPECT_EQ(percent_decoded("%e2%82%ac"), "\xE2\x82\xAC");
  EXPECT_EQ(percent_decoded("100%"), std::nullopt);
  EXPECT_EQ(percent_decoded("%4"), std::nullopt);
  EXPECT_EQ(percent_decoded("%zz"), std::nullopt);
  EXPECT_EQ(percent_decoded("%+1"), std::nullopt);
  EXPECT_EQ(percent_decoded("%-1"), std::nullopt);
  EXPECT_EQ(percent_decoded(""), "");
}

TEST(FreeString, LeavesNoMemoryBehind) {
  std::string text(100'000, 'x');
  free_string(text);
  EXPECT_TRUE(text.empty());
  EXPECT_LT(text.capacity(), 100U);
}

TEST(Text, CaseIsThatOfAsciiLetters) {
  EXPECT_EQ(lower_case("GET /Ä[@Z"), "get /Ä[@z");
  EXPECT_EQ(upper_case("get /ä{`z"), "GET /ä{`Z");
  EXPECT_TRUE(equals_ignoring_case("X-Api-Key", "x-aPI-kEY"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("[", "{"));
}

}  // namespace
}  // namespace penstock::base
