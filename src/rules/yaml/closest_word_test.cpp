#include "rules/yaml/diagnostic.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace penstock::rules {
namespace {

constexpr std::array<std::string_view, 3> kWords{"check", "demo", "bench"};

TEST(ClosestWord, FindsTheWordBehindATypo) {
  EXPECT_EQ(closest_word("chekc", kWords), "check");
  EXPECT_EQ(closest_word("dem", kWords), "demo");
  EXPECT_EQ(closest_word("benchh", kWords), "bench");
  EXPECT_EQ(suggestion("benchh", kWords), "; did you mean 'bench'?");
}

TEST(ClosestWord, SuggestsNothingForUnrelatedWords) {
  EXPECT_EQ(closest_word("serve", kWords), "");
  EXPECT_EQ(closest_word("", kWords), "");
  EXPECT_EQ(closest_word("x", {}), "");
  EXPECT_EQ(suggestion("serve", kWords), "");
}

TEST(ClosestWord, SkipsVeryLongWords) {
  EXPECT_EQ(closest_word(std::string(1'000'000, 'c'), kWords), "");
}

}  // namespace
}  // namespace penstock::rules
