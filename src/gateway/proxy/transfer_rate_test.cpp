#include "gateway/proxy/downstream.hpp"

#include <gtest/gtest.h>

namespace penstock::gateway {
namespace {

using namespace std::chrono_literals;

TEST(TransferRate, OneBytePerSecondIsTooSlowAfterTheGrace) {
  TransferRate rate(240, 30s);
  for (int second = 0; second < 30; ++second) rate.waited(1s, 1);
  EXPECT_FALSE(rate.is_too_slow());
  rate.waited(1s, 1);
  EXPECT_TRUE(rate.is_too_slow());
}

TEST(TransferRate, TheMinimumRateIsNeverTooSlow) {
  TransferRate rate(240, 30s);
  for (int second = 0; second < 10'000; ++second) {
    rate.waited(1s, 240);
    ASSERT_FALSE(rate.is_too_slow()) << second;
  }
  for (int second = 0; second < 31; ++second) rate.waited(1s, 0);
  EXPECT_TRUE(rate.is_too_slow());
}

TEST(TransferRate, EarlierSpeedIsNotCredited) {
  TransferRate rate(240, 30s);
  rate.waited(1s, 100'000'000);  // into the buffers of the kernel
  for (int second = 0; second < 31; ++second) rate.waited(1s, 1);
  EXPECT_TRUE(rate.is_too_slow());
}

TEST(TransferRate, AFastTransferMakesUpForAPause) {
  TransferRate rate(240, 30s);
  for (int pause = 0; pause < 100; ++pause) {
    rate.waited(29s, 240 * 29);
    rate.waited(0s, 240);
    ASSERT_FALSE(rate.is_too_slow()) << pause;
  }
}

TEST(TransferRate, OnlyTimeSpentWaitingCounts) {
  TransferRate rate(240, 30s);
  for (int piece = 0; piece < 1'000; ++piece) rate.waited(0s, 1);  // an event stream
  EXPECT_FALSE(rate.is_too_slow());
}

TEST(TransferRate, WithoutAMinimumNothingIsTooSlow) {
  TransferRate rate(0, 30s);
  rate.waited(1000h, 0);
  EXPECT_FALSE(rate.is_too_slow());
}

}  // namespace
}  // namespace penstock::gateway
