#include "store/quota_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace penstock::store {
namespace {

using std::chrono::milliseconds;

Quota numbered(std::int64_t number) { return Quota::make(per_second(number + 1)).value(); }

TEST(QuotaTable, GivesOneNumberToEqualQuotas) {
  QuotaTable table;
  const std::uint32_t id = table.acquire(per_minute(100));
  EXPECT_EQ(table.acquire(per(100, std::chrono::seconds{60})), id);
  EXPECT_EQ(table.size(), 1U);
}

TEST(QuotaTable, TellsQuotasApartByEveryField) {
  const std::vector<Quota> quotas{
      per_minute(100),
      per_minute(101),
      per(100, milliseconds{60'001}),
      per_minute(100).burst(20),
      per_minute(100).gcra(),
      per_minute(100).gcra().burst(20),
      per_minute(100).fixed_window(),
      per_minute(100).anchored_window(),
      per_minute(100).sliding_log(),
      per_minute(100).sliding_counter(),
      per_minute(100).sub_windows(),
      per_minute(100).sub_windows(6),
  };
  QuotaTable table;
  std::set<std::uint32_t> ids;
  for (const Quota& quota : quotas) ids.insert(table.acquire(quota));
  EXPECT_EQ(ids.size(), quotas.size());
}

TEST(QuotaTable, GivesBackTheQuotaThatItWasGiven) {
  QuotaTable table;
  std::vector<std::uint32_t> ids;
  for (int number = 0; number < 100; ++number) ids.push_back(table.acquire(numbered(number)));
  for (int number = 0; number < 100; ++number) {
    EXPECT_EQ(table[ids[static_cast<std::size_t>(number)]], numbered(number));
  }
}

TEST(QuotaTable, DropsAQuotaWithItsLastUse) {
  QuotaTable table;
  const std::uint32_t id = table.acquire(numbered(1));
  EXPECT_EQ(table.acquire(numbered(1)), id);
  table.release(id);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table[id], numbered(1));
  table.release(id);
  EXPECT_EQ(table.size(), 0U);
}

TEST(QuotaTable, DoesNotTakeADroppedQuotaForTheLastOneUsed) {
  QuotaTable table;
  const std::uint32_t first = table.acquire(numbered(1));
  table.release(first);
  const std::uint32_t second = table.acquire(numbered(2));
  EXPECT_EQ(second, first) << "numbers are used again";
  const std::uint32_t third = table.acquire(numbered(1));
  EXPECT_NE(third, second);
  EXPECT_EQ(table[second], numbered(2));
  EXPECT_EQ(table[third], numbered(1));
}

TEST(QuotaTable, NeedsNoMoreNumbersThanQuotasInUse) {
  QuotaTable table;
  for (int number = 0; number < 10'000; ++number) {
    const std::uint32_t id = table.acquire(numbered(number));
    EXPECT_EQ(id, 0U);
    table.release(id);
  }
  EXPECT_LT(table.bytes(), 1024U);
}

TEST(QuotaTable, CountsUsesThroughARandomHistory) {
  std::mt19937 random(7);
  QuotaTable table;
  std::map<int, std::vector<std::uint32_t>> held;
  for (int step = 0; step < 5000; ++step) {
    const int number = static_cast<int>(random() % 50);
    std::vector<std::uint32_t>& ids = held[number];
    if (random() % 2 == 0 || ids.empty()) {
      ids.push_back(table.acquire(numbered(number)));
    } else {
      table.release(ids.back());
      ids.pop_back();
    }
    std::size_t live = 0;
    std::set<std::uint32_t> distinct;
    for (const auto& [each, its_ids] : held) {
      if (its_ids.empty()) continue;
      ++live;
      distinct.insert(its_ids.begin(), its_ids.end());
    }
    ASSERT_EQ(table.size(), live);
    ASSERT_EQ(distinct.size(), live);
    if (ids.empty()) continue;
    ASSERT_EQ(table[ids.back()], numbered(number));
  }
}

}  // namespace
}  // namespace penstock::store
