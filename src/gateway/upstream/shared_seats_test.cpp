#include "gateway/upstream/shared_seats.hpp"

#include "penstock/clock.hpp"
#include "store/embedded_store.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace penstock::gateway {
namespace {

using namespace std::chrono_literals;
using Outcome = SharedSeats::Outcome;

// Fails when told to, before or after it has done what it was asked.
class FlakySeats final : public store::SeatBook {
 public:
  explicit FlakySeats(store::MemorySeats& memory) : real_(memory) {}

  void acquire(store::SeatName seat, std::uint32_t limit, Duration lasts, base::Deadline deadline,
               Answered<core::SeatAnswer> answered) override {
    if (!loses_answers) return real_.acquire(seat, limit, lasts, deadline, std::move(answered));
    real_.acquire(seat, limit, lasts, deadline, [](const auto&) {});
    answered(Error{ErrorCode::Timeout, "no answer in time"});
  }
  void renew(store::SeatName seat, Duration lasts, base::Deadline deadline,
             Answered<core::SeatAnswer> answered) override {
    real_.renew(seat, lasts, deadline, std::move(answered));
  }
  void release(store::SeatName seat, base::Deadline deadline, Answered<bool> answered) override {
    ++releases;
    if (is_gone) return answered(Error{ErrorCode::Unavailable, "gone"});
    real_.release(seat, deadline, std::move(answered));
  }

  bool loses_answers = false;
  bool is_gone = false;
  int releases = 0;

 private:
  store::EmbeddedSeats real_;
};

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

  FlakySeats book;
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

TEST_F(SharedSeatsTest, WhoseAnswerWasLostAreReleased) {
  one.book.loses_answers = true;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(one.take("a"));
  EXPECT_EQ(one.last, Outcome::NotAsked);
  auto first = two.take("a");
  auto second = two.take("a");
  EXPECT_TRUE(first && second);
}

TEST_F(SharedSeatsTest, ThatCouldNotBeReleasedAreReleasedLater) {
  auto seat = one.take("a");
  auto other = one.take("a");
  one.book.is_gone = true;
  seat.reset();
  const base::Deadline now = base::monotonic_now();
  one.seats->tick(now + 1s);
  EXPECT_FALSE(two.take("a"));
  one.book.is_gone = false;
  one.seats->tick(now + 2s);
  EXPECT_TRUE(two.take("a"));
}

TEST_F(SharedSeatsTest, ThatHaveExpiredAreNotReleasedAnyMore) {
  auto seat = one.take("a");
  one.book.is_gone = true;
  seat.reset();
  one.seats->tick(base::monotonic_now() + 31s);
  EXPECT_EQ(one.book.releases, 1);
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
