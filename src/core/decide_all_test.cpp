#include "core/decide_all.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <vector>

namespace penstock::core {
namespace {

using Usage = std::map<int, std::uint64_t>;

// A limit that counts units and never forgets them.
struct TestItem {
  int name = 0;
  const Quota* quota = nullptr;
  Cost cost{};
  Usage* usage = nullptr;
  Cost pending{0};

  [[nodiscard]] int key() const { return name; }
  [[nodiscard]] Decision preview(Cost units, Instant /*now*/) const {
    const std::uint32_t capacity = quota->capacity();
    const std::uint64_t used = std::min<std::uint64_t>((*usage)[name], capacity);
    const auto left = static_cast<std::uint32_t>(capacity - used);
    if (units.units > left) return Decision::deny(capacity, left, Duration{1}, Duration{1});
    return Decision::allow(capacity, left - static_cast<std::uint32_t>(units.units), Duration{1});
  }
  [[nodiscard]] Decision decide(Instant now) const {
    const Decision decision = preview(cost, now);
    if (decision.allowed()) (*usage)[name] += cost.units;
    return decision;
  }
};

struct DecideAll : ::testing::Test {
  bool decide(std::vector<TestItem> items) {
    for (TestItem& item : items) item.usage = &usage;
    decisions.assign(items.size(), Decision{});
    find_pending(std::span(items));
    return decide_all(std::span(items), std::span(decisions), Instant{});
  }

  Quota five = per_minute(5);
  Quota nine = per_minute(9);
  Usage usage;
  std::vector<Decision> decisions;
};

TEST_F(DecideAll, ChargesNothingWhenOneLimitDenies) {
  EXPECT_FALSE(decide({{1, &five, Cost{2}}, {2, &five, Cost{6}}}));
  EXPECT_TRUE(decisions[0].allowed());
  EXPECT_EQ(decisions[0].remaining(), 5U);
  EXPECT_FALSE(decisions[1].allowed());
  EXPECT_EQ(usage[1], 0U);
}

TEST_F(DecideAll, ChecksOfOneKeyMustFitWithTheirSum) {
  EXPECT_FALSE(decide({{1, &five, Cost{3}}, {1, &five, Cost{3}}}));
  EXPECT_TRUE(decide({{1, &five, Cost{3}}, {1, &five, Cost{2}}}));
  EXPECT_EQ(usage[1], 5U);
}

TEST_F(DecideAll, TheSumMustFitEachQuotaOfAKey) {
  EXPECT_FALSE(decide({{1, &nine, Cost{4}}, {1, &five, Cost{2}}}));
  EXPECT_TRUE(decide({{1, &nine, Cost{3}}, {1, &five, Cost{2}}}));
}

TEST_F(DecideAll, APeekBehindAChargeNeedsOneUnitMore) {
  EXPECT_TRUE(decide({{1, &five, Cost{0}}, {1, &five, Cost{5}}}));
  usage.clear();
  EXPECT_FALSE(decide({{1, &five, Cost{5}}, {1, &five, Cost{0}}}));
}

TEST_F(DecideAll, HugeCostsDoNotWrapAround) {
  EXPECT_FALSE(decide({{1, &five, Cost{UINT64_MAX}}, {1, &five, Cost{2}}}));
}

// Long lists take another path than short ones.
RC_GTEST_FIXTURE_PROP(DecideAll, LongListsArePlannedAsShortOnes, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(detail::kMaxPairwise + 1, 120);
  std::vector<TestItem> items;
  for (std::size_t i = 0; i < size; ++i) {
    items.push_back({*rc::gen::inRange(0, 12), *rc::gen::arbitrary<bool>() ? &five : &nine,
                     Cost{*rc::gen::inRange<std::uint64_t>(0, 4)}});
  }
  find_pending(std::span(items));
  const auto item_at = [&](std::size_t i) -> const TestItem& { return items[i]; };
  for (std::size_t i = 0; i < size; ++i) {
    RC_ASSERT(items[i].pending == detail::pending_at(size, i, item_at));
  }
}

}  // namespace
}  // namespace penstock::core
