#include "redis/refusal.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace penstock::redis {
namespace {

TEST(Refusal, RefusesWithWhatWasPutUpLastAndCountsIt) {
  Refusal refusal;
  EXPECT_EQ(refusal.refuse(), std::nullopt);
  refusal.put_up({ErrorCode::Unavailable, "first"});
  refusal.put_up({ErrorCode::Misconfigured, "second"});
  EXPECT_EQ(refusal.refuse(), (Error{ErrorCode::Misconfigured, "second"}));
  EXPECT_EQ(refusal.refuse(), (Error{ErrorCode::Misconfigured, "second"}));
  EXPECT_EQ(refusal.refused(), 2U);
  refusal.take_down();
  EXPECT_EQ(refusal.refuse(), std::nullopt);
  EXPECT_EQ(refusal.refused(), 2U);
}

// For the thread sanitizer.
TEST(Refusal, MayBeChangedWhileOthersLook) {
  Refusal refusal;
  std::atomic<std::uint64_t> heard = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      for (int asked = 0; asked < 10'000; ++asked) {
        const std::optional<Error> why = refusal.refuse();
        if (!why) continue;
        EXPECT_EQ(why->code, ErrorCode::Unavailable);
        ++heard;
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    refusal.put_up({ErrorCode::Unavailable, "number " + std::to_string(i)});
    refusal.take_down();
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(refusal.refused(), heard);
}

}  // namespace
}  // namespace penstock::redis
