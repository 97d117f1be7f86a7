#include "base/percent_decoded.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace penstock::base
