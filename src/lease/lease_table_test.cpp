#include "lease/lease_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::lease {
namespace {

using namespace std::chrono_literals;

core::NamedCheck check_of(std::size_t key) {
  return {.name = {.subject = std::to_string(key), .limit = "limit"},
          .quota = per_second(100),
          .cost = Cost{1},
          .terms = {.mode = core::Mode::Adaptive}};
}

store::Hash128 name_of(std::size_t key) { return {.high = key, .low = key * 7919}; }

// A key that was removed and created again used to be listed twice.
TEST(LeaseTable, StaysBoundedWhenKeysComeAndGo) {
  LeaseTable table(4);
  base::Deadline now{std::chrono::seconds{100}};
  for (std::size_t round = 0; round < 1'000; ++round) {
    for (std::size_t key = 0; key < 4; ++key) {
      ASSERT_NE(table.find_or_create(name_of(key), check_of(key), now), nullptr) << round;
    }
    table.remove(LeaseTable::key_of(name_of(round % 4), check_of(0).quota));
    EXPECT_EQ(table.size(), 3U);
    now += 1ms;
  }
  EXPECT_EQ(table.find_or_create(name_of(0), check_of(0), now) != nullptr, true);
  now += 1s;
  for (std::size_t key = 10; key < 14; ++key) {
    EXPECT_NE(table.find_or_create(name_of(key), check_of(key), now), nullptr)
        << "idle ones are evicted";
  }
  EXPECT_LE(table.size(), 4U);
}

TEST(LeaseTable, KeepsQuotasOfOneNameApartAndDropsThemByName) {
  LeaseTable table;
  const base::Deadline now{std::chrono::seconds{100}};
  core::NamedCheck slow = check_of(1);
  core::NamedCheck fast = check_of(1);
  fast.quota = per_second(200);
  KeyLease* const first = table.find_or_create(name_of(1), slow, now);
  KeyLease* const second = table.find_or_create(name_of(1), fast, now);
  EXPECT_NE(first, second);
  EXPECT_EQ(table.keys_of(name_of(1)).size(), 2U);
  table.remove(LeaseTable::key_of(name_of(1), slow.quota));
  ASSERT_EQ(table.keys_of(name_of(1)).size(), 1U);
  EXPECT_EQ(table.find(table.keys_of(name_of(1)).front()), second);
}

}  // namespace
}  // namespace penstock::lease
