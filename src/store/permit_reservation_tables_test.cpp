#include "penstock/clock.hpp"
#include "store/permit_table.hpp"
#include "store/reservation_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::store {
namespace {

using namespace std::chrono_literals;

TEST(PermitTable, AreBoundedAndMakeRoomWhenTheyAreOver) {
  ManualClock clock;
  PermitTable permits(clock, 10'000);
  int held = 0;
  while (permits.acquire({"key " + std::to_string(held), "a"}, 1, 1min)) ++held;
  EXPECT_GT(held, 10);
  EXPECT_LE(permits.bytes(), 10'000U);
  const auto full = permits.acquire({"another", "a"}, 1, 1min);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::CapacityExhausted);
  EXPECT_TRUE(permits.acquire({"key 0", "a"}, 1, 2min)->held);  // who has one keeps it
  clock.advance(1min);
  EXPECT_TRUE(permits.acquire({"another", "a"}, 1, 1min)->held);
  EXPECT_LT(permits.bytes(), 2'000U);
}

TEST(PermitTable, LeaveNothingBehind) {
  ManualClock clock;
  PermitTable permits(clock);
  for (int i = 0; i < 100; ++i) {
    const PermitName permit{"key " + std::to_string(i % 7), std::to_string(i)};
    EXPECT_TRUE(permits.acquire(permit, 100, 1min)->held);
    EXPECT_TRUE(i % 2 == 1 || permits.release(permit));
  }
  EXPECT_GT(permits.bytes(), 0U);
  clock.advance(1min);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(permits.renew({std::to_string(i), "x"}, 1s).held);
  EXPECT_EQ(permits.bytes(), 0U);
}

ReservationRequest begin(const std::string& id) { return {id, reservation::Begin{"me"}}; }

TEST(ReservationTable, AreBoundedAndMakeRoomWhenTheyAreForgotten) {
  ManualClock clock;
  ReservationTable book(clock, 10'000);
  int known = 0;
  while (book.ask(begin(std::to_string(known)))) ++known;
  EXPECT_GT(known, 5);
  EXPECT_LT(known, 20);
  EXPECT_EQ(book.ask(begin("x")).error().code, ErrorCode::CapacityExhausted);
  EXPECT_FALSE(book.ask(begin("0"))->done);  // is known, and told so
  EXPECT_TRUE(book.ask({"0", reservation::Confirm{"me", 5, 1h, {}}})->done);
  EXPECT_TRUE(book.ask({"0", reservation::Cancel{}})->done);
  clock.advance(ReservationStore::kPendingTimeout);
  EXPECT_TRUE(book.ask(begin("x"))->done);
  EXPECT_FALSE(book.ask(begin("0"))->done);
  clock.advance(1h);
  EXPECT_TRUE(book.ask(begin("0"))->done);
}

TEST(ReservationTable, AreDueInTheOrderTheyEnd) {
  ManualClock clock;
  ReservationTable book(clock);
  for (const auto& [id, lasts] : {std::pair{"late", 3s}, std::pair{"soon", 1s}}) {
    EXPECT_TRUE(book.ask(begin(id))->done);
    EXPECT_TRUE(book.ask({id, reservation::Confirm{"me", 5, lasts, {}}})->done);
  }
  EXPECT_EQ(book.due(9), std::vector<std::string>{});
  clock.advance(1s);
  EXPECT_EQ(book.due(9), std::vector<std::string>{"soon"});
  clock.advance(2s);
  EXPECT_EQ(book.due(9), (std::vector<std::string>{"soon", "late"}));
}

}  // namespace
}  // namespace penstock::store
