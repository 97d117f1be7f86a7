#include "gateway/shared_seats.hpp"

#include "penstock/clock.hpp"
#include "store/embedded_store.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace penstock::gateway {
namespace {

using namespace std::chrono_literals;
using Outcome = SharedSeats::Outcome;

struct Node {
  explicit Node(store::MemoryStore& memory)
      : book(memory.seats()),
        seats(std::make_shared<SharedSeats>(
            book, SharedSeats::Terms{.limit = 2, .lease = 30s, .prefix = "gateway/"})) {}

  std::optional<SharedSeats::Seat> take(std::string_view client) {
    std::optional<SharedSeats::Seat> taken;
    seats->take(client, {}, [&](Outcome outcome, SharedSeats::Seat seat) {
      last = outcome;
      if (outcome == Outcome::Taken) taken.emplace(std::move(seat));
    });
    return taken;
  }

  store::EmbeddedSeats book;
  std::shared_ptr<SharedSeats> seats;
  Outcome last = Outcome::NotAsked;
};

struct SharedSeatsTest : ::testing::Test {
  ManualClock clock;
  store::MemoryStore memory{{.clock = &clock}};
  Node one{memory};
  Node two{memory};
};

TEST_F(SharedSeatsTest, HoldForAllNodesTogether) {
  auto first = one.take("a");
  auto second = two.take("a");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(one.take("a"));
  EXPECT_EQ(one.last, Outcome::Full);
  EXPECT_TRUE(one.take("b"));
  second.reset();
  EXPECT_TRUE(one.take("a"));
}

TEST_F(SharedSeatsTest, AreRenewedWhileTheyAreHeld) {
  auto seat = one.take("a");
  auto lost = two.take("a");
  base::Deadline now = base::monotonic_now();
  for (int i = 0; i < 20; ++i) {
    clock.advance(10s);
    now += 11s;
    one.seats->tick(now);  // the other node says nothing any more
  }
  auto next = one.take("a");
  EXPECT_TRUE(next);
  EXPECT_FALSE(one.take("a"));
}

TEST_F(SharedSeatsTest, AreForgottenWhenTheStoreIsClosed) {
  auto seat = one.take("a");
  one.seats->close();
  EXPECT_FALSE(one.take("a"));
  EXPECT_EQ(one.last, Outcome::NotAsked);
  seat.reset();
  EXPECT_EQ(one.seats->held(), 0U);
}

}  // namespace
}  // namespace penstock::gateway
