// Usage that another store reports.
#include "reference/any_quota.hpp"
#include "store/sharded_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace penstock::store {
namespace {

const core::LimitKey kRaised{"subject", "limit"};

RC_GTEST_PROP(RaiseUsed, CountsAtLeastSoMuchAndNeverLess, ()) {
  ManualClock clock;
  ShardedTable store({.clock = &clock});
  const Quota quota = reference::any_handy_quota();
  const auto remaining = [&] {
    return store.check(core::NamedCheck{.name = kRaised, .quota = quota, .cost = Cost{0}})
        .remaining();
  };
  for (int step = 0; step < 30; ++step) {
    clock.advance(Duration{*rc::gen::inRange<std::int64_t>(0, quota.period().count())});
    const Cost cost{*rc::gen::inRange<std::uint64_t>(0, quota.capacity() + 1)};
    static_cast<void>(store.check(core::NamedCheck{.name = kRaised, .quota = quota, .cost = cost}));
    const std::uint32_t before = remaining();
    const auto used = *rc::gen::inRange<std::uint32_t>(0, quota.capacity() + 3);
    store.raise_used(kRaised, quota, used);
    RC_ASSERT(remaining() == std::min(before, quota.capacity() - std::min(used, quota.capacity())));
  }
}

TEST(RaiseUsed, LiftsABlock) {
  ManualClock clock;
  ShardedTable store({.clock = &clock});
  const core::NamedCheck look{.name = kRaised, .quota = per_minute(5), .cost = Cost{0}};
  EXPECT_FALSE(store.block(kRaised, std::chrono::hours{1}));
  store.raise_used(kRaised, look.quota, 2);
  EXPECT_EQ(store.check(look).remaining(), 3U);
}

}  // namespace
}  // namespace penstock::store
