#include "apps/penstock/suggestion.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace penstock::app {
namespace {

const std::array<std::string, 3> kCommands{"check", "demo", "bench"};

TEST(Closest, ForgivesASlipOfTheFinger) {
  EXPECT_EQ(closest("chekc", kCommands), "check");
  EXPECT_EQ(closest("dem", kCommands), "demo");
  EXPECT_EQ(closest("benchh", kCommands), "bench");
}

TEST(Closest, DoesNotGuessWildly) {
  EXPECT_EQ(closest("serve", kCommands), std::nullopt);
  EXPECT_EQ(closest("", kCommands), std::nullopt);
  EXPECT_EQ(closest("x", {}), std::nullopt);
}

}  // namespace
}  // namespace penstock::app
