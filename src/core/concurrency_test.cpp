#include "core/concurrency.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::core {
namespace {

using namespace std::chrono_literals;

constexpr Instant kOpening{Days{20'000}};

TEST(Seats, AreTakenReleasedAndTakenAgain) {
  Seats seats;
  EXPECT_EQ(seats.acquire("a", 2, 10s, kOpening), (SeatAnswer{true, 1, 10s}));
  EXPECT_EQ(seats.acquire("b", 2, 20s, kOpening), (SeatAnswer{true, 2, 20s}));
  EXPECT_EQ(seats.acquire("c", 2, 10s, kOpening + 1s), (SeatAnswer{false, 2, 9s}));
  EXPECT_TRUE(seats.release("a", kOpening + 1s));
  EXPECT_FALSE(seats.release("a", kOpening + 1s));
  EXPECT_EQ(seats.acquire("c", 2, 10s, kOpening + 1s), (SeatAnswer{true, 2, 10s}));
}

TEST(Seats, OfOneNameAreOneSeat) {
  Seats seats;
  EXPECT_TRUE(seats.acquire("a", 1, 10s, kOpening).held);
  EXPECT_EQ(seats.acquire("a", 1, 10s, kOpening + 4s), (SeatAnswer{true, 1, 10s}));
  EXPECT_EQ(seats.acquire("a", 1, 1s, kOpening + 5s), (SeatAnswer{true, 1, 9s}));  // never less
}

TEST(Seats, ThatAreOverCannotBeRenewed) {
  Seats seats;
  EXPECT_TRUE(seats.acquire("a", 1, 10s, kOpening).held);
  EXPECT_EQ(seats.renew("a", 10s, kOpening + 9s), (SeatAnswer{true, 1, 10s}));
  EXPECT_EQ(seats.renew("a", 10s, kOpening + 19s), (SeatAnswer{false, 0, 0s}));
  EXPECT_EQ(seats.renew("b", 10s, kOpening), (SeatAnswer{false, 0, 0s}));
  EXPECT_EQ(seats.name_bytes(), 0U);
}

TEST(Seats, AreFreeWhenSoManyMoreAreOverThanALowerLimitNeeds) {
  Seats seats;
  for (int i = 1; i <= 5; ++i) {
    EXPECT_TRUE(seats.acquire(std::to_string(i), 5, i * 1s, kOpening).held);
  }
  EXPECT_EQ(seats.acquire("x", 2, 1s, kOpening), (SeatAnswer{false, 5, 4s}));
}

struct Step {
  int what;
  int id;
  int lasts;
  int wait;
};

rc::Gen<std::vector<Step>> histories() {
  return rc::gen::container<std::vector<Step>>(
      rc::gen::construct<Step>(rc::gen::inRange(0, 4), rc::gen::inRange(0, 6),
                               rc::gen::inRange(1, 9), rc::gen::inRange(0, 4)));
}

// Never more than the limit at a time, whoever asks for what; who is refused is refused until the
// time he was told, and allowed at it.
RC_GTEST_PROP(SeatsProperty, NeverMoreThanTheLimitAndFreeWhenTold, ()) {
  const auto limit = *rc::gen::inRange<std::uint32_t>(1, 4);
  Seats seats;
  std::map<std::string, Instant> model;
  Instant now = kOpening;
  for (const Step& step : *histories()) {
    now += Duration{step.wait};
    std::erase_if(model, [&](const auto& seat) { return seat.second <= now; });
    const std::string id = std::to_string(step.id);
    const Duration lasts{step.lasts};
    const auto known = model.find(id);
    if (step.what <= 1) {
      const SeatAnswer answer = seats.acquire(id, limit, lasts, now);
      RC_ASSERT(answer.held == (known != model.end() || model.size() < limit));
      if (answer.held) {
        model[id] = std::max(model[id], now + lasts);
        RC_ASSERT(answer.lasts == model[id] - now);
      } else {
        Seats early = seats;
        Seats later = seats;
        RC_ASSERT(!early.acquire(id, limit, lasts, now + answer.lasts - Duration{1}).held);
        RC_ASSERT(later.acquire(id, limit, lasts, now + answer.lasts).held);
      }
    } else if (step.what == 2) {
      RC_ASSERT(seats.renew(id, lasts, now).held == (known != model.end()));
      if (known != model.end()) known->second = std::max(known->second, now + lasts);
    } else {
      RC_ASSERT(seats.release(id, now) == (model.erase(id) > 0));
    }
    RC_ASSERT(seats.size() == model.size());
    RC_ASSERT(seats.size() <= limit);
  }
}

}  // namespace
}  // namespace penstock::core
