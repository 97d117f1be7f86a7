#include "http2/flood_budget.hpp"

#include <gtest/gtest.h>

namespace penstock::http2 {
namespace {

constexpr FrameHead kHeaders{.length = 10, .type = NGHTTP2_HEADERS, .flags = 0};

TEST(FrameCosts, HeaderBlocksOfStreamsThatHaveEndedAreCharged) {
  FrameCosts costs;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(costs.is_charged(kHeaders));
    costs.on_headers_used();
    EXPECT_FALSE(costs.take_dropped_headers());
  }
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(costs.is_charged(kHeaders));
  int charged = 0;
  while (costs.take_dropped_headers()) ++charged;
  EXPECT_EQ(charged, 99);  // the last one may still be arriving
}

TEST(FrameCosts, WindowUpdatesAreFreeAsLongAsThereWasDataForThem) {
  constexpr FrameHead kUpdate{.length = 4, .type = NGHTTP2_WINDOW_UPDATE, .flags = 0};
  FrameCosts costs;
  EXPECT_TRUE(costs.is_charged(kUpdate));
  costs.on_data_sent();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(costs.is_charged(kUpdate));
  EXPECT_TRUE(costs.is_charged(kUpdate));
}

}  // namespace
}  // namespace penstock::http2
