#include "base/free_string.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::base {
namespace {

TEST(FreeString, LeavesNoMemoryBehind) {
  std::string text(100'000, 'x');
  free_string(text);
  EXPECT_TRUE(text.empty());
  EXPECT_LT(text.capacity(), 100U);
}

}  // namespace
}  // namespace penstock::base
