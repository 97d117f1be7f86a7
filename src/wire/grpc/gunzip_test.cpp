#include "grpc_calls/gzip.hpp"
#include "wire/grpc/message_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::wire::grpc {
namespace {

using grpc_calls::gzipped;

RC_GTEST_PROP(Gunzip, GivesBackWhatWasCompressed, ()) {
  const auto text = *rc::gen::string<std::string>();
  const auto times = *rc::gen::inRange<std::size_t>(1, 2000);
  std::string message;
  for (std::size_t i = 0; i < times; ++i) message += text;
  std::string out;
  RC_ASSERT(gunzip(gzipped(message), message.size(), out) == GunzipResult::Done);
  RC_ASSERT(out == message);
}

TEST(Gunzip, TheLimitIsOnWhatComesOut) {
  const std::string message(10'000, 'x');
  const std::string compressed = gzipped(message);
  ASSERT_LT(compressed.size(), 100U);
  std::string out;
  EXPECT_EQ(gunzip(compressed, 10'000, out), GunzipResult::Done);
  EXPECT_EQ(gunzip(compressed, 9'999, out), GunzipResult::TooLarge);
  EXPECT_EQ(gunzip(gzipped(""), 0, out), GunzipResult::Done);
  EXPECT_EQ(out, "");
  EXPECT_EQ(gunzip(gzipped("x"), 0, out), GunzipResult::TooLarge);
}

TEST(Gunzip, AZipBombTakesNoMoreThanTheLimit) {
  const std::string bomb = gzipped(std::string(std::size_t{64} << 20U, '\0'));
  ASSERT_LT(bomb.size(), 100'000U);
  constexpr std::size_t kLimit = 50'000;
  std::string out;
  EXPECT_EQ(gunzip(bomb, kLimit, out), GunzipResult::TooLarge);
  EXPECT_LE(out.size(), kLimit + 1);
  EXPECT_LE(out.capacity(), 2 * (kLimit + 1));
}

TEST(Gunzip, WhatIsNotOneWholeMemberIsMalformed) {
  const std::string good = gzipped("a message");
  std::string out;
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(gunzip(good.substr(0, size), 100, out), GunzipResult::Malformed) << size;
  }
  EXPECT_EQ(gunzip(good + "x", 100, out), GunzipResult::Malformed);
  EXPECT_EQ(gunzip(good + good, 100, out), GunzipResult::Malformed);
  EXPECT_EQ(gunzip("a message", 100, out), GunzipResult::Malformed);
  std::string wrong_sum = good;
  wrong_sum[good.size() - 8] ^= 1;
  EXPECT_EQ(gunzip(wrong_sum, 100, out), GunzipResult::Malformed);
}

}  // namespace
}  // namespace penstock::wire::grpc
