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

}  // namespace
}  // namespace penstock::base
