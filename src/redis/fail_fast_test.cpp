#include "redis/client.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace penstock::redis {
namespace {

TEST(FailFast, FailsWithTheLastErrorSetAndCountsIt) {
  FailFast fail_fast;
  EXPECT_EQ(fail_fast.fail_now(), std::nullopt);
  fail_fast.set({ErrorCode::Unavailable, "first"});
  fail_fast.set({ErrorCode::Misconfigured, "second"});
  EXPECT_EQ(fail_fast.fail_now(), (Error{ErrorCode::Misconfigured, "second"}));
  EXPECT_EQ(fail_fast.fail_now(), (Error{ErrorCode::Misconfigured, "second"}));
  EXPECT_EQ(fail_fast.fast_fails(), 2U);
  fail_fast.clear();
  EXPECT_EQ(fail_fast.fail_now(), std::nullopt);
  EXPECT_EQ(fail_fast.fast_fails(), 2U);
}

// For the thread sanitizer.
TEST(FailFast, MayBeChangedWhileOthersRead) {
  FailFast fail_fast;
  std::atomic<std::uint64_t> heard = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      for (int asked = 0; asked < 10'000; ++asked) {
        const std::optional<Error> why = fail_fast.fail_now();
        if (!why) continue;
        EXPECT_EQ(why->code, ErrorCode::Unavailable);
        ++heard;
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    fail_fast.set({ErrorCode::Unavailable, "number " + std::to_string(i)});
    fail_fast.clear();
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(fail_fast.fast_fails(), heard);
}

}  // namespace
}  // namespace penstock::redis
