#include "gateway/upstream/in_flight.hpp"
#include "penstock/clock.hpp"
#include "store/memory_store.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace penstock::gateway {
namespace {

using namespace std::chrono_literals;
using Outcome = SharedPermits::Outcome;

// Fails on request, before or after executing the call.
class FlakyPermits final : public store::PermitStore {
 public:
  explicit FlakyPermits(store::ShardedTable& memory) : real_(memory) {}

  void acquire(store::PermitName permit, std::uint32_t limit, Duration lasts,
               base::Deadline deadline, store::Answered<core::PermitResult> answered) override {
    if (!loses_answers) return real_.acquire(permit, limit, lasts, deadline, std::move(answered));
    real_.acquire(permit, limit, lasts, deadline, [](const auto&) {});
    answered(Error{ErrorCode::Timeout, "no answer in time"});
  }
  void renew(store::PermitName permit, Duration lasts, base::Deadline deadline,
             store::Answered<core::PermitResult> answered) override {
    real_.renew(permit, lasts, deadline, std::move(answered));
  }
  void release(store::PermitName permit, base::Deadline deadline,
               store::Answered<bool> answered) override {
    ++releases;
    if (is_gone) return answered(Error{ErrorCode::Unavailable, "gone"});
    real_.release(permit, deadline, std::move(answered));
  }

  bool loses_answers = false;
  bool is_gone = false;
  int releases = 0;

 private:
  store::MemoryStore real_;
};

struct Node {
  explicit Node(store::ShardedTable& memory)
      : book(memory),
        permits(std::make_shared<SharedPermits>(
            book, SharedPermits::Options{.limit = 2, .lease = 30s, .prefix = "gateway/"})) {}

  std::optional<SharedPermits::Permit> take(std::string_view client) {
    std::optional<SharedPermits::Permit> taken;
    permits->acquire(client, {}, [&](Outcome outcome, SharedPermits::Permit permit) {
      last = outcome;
      if (outcome == Outcome::Acquired) taken.emplace(std::move(permit));
    });
    return taken;
  }

  FlakyPermits book;
  std::shared_ptr<SharedPermits> permits;
  Outcome last = Outcome::StoreUnavailable;
};

struct SharedPermitsTest : ::testing::Test {
  ManualClock clock;
  store::ShardedTable memory{{.clock = &clock}};
  Node one{memory};
  Node two{memory};
};

TEST_F(SharedPermitsTest, LimitIsSharedByAllNodes) {
  auto first = one.take("a");
  auto second = two.take("a");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(one.take("a"));
  EXPECT_EQ(one.last, Outcome::LimitReached);
  EXPECT_TRUE(one.take("b"));
  second.reset();
  EXPECT_TRUE(one.take("a"));
}

TEST_F(SharedPermitsTest, PermitsAreRenewedWhileHeld) {
  auto permit = one.take("a");
  auto lost = two.take("a");
  base::Deadline now = base::monotonic_now();
  for (int i = 0; i < 20; ++i) {
    clock.advance(10s);
    now += 11s;
    one.permits->tick(now);  // the other node no longer renews
  }
  auto next = one.take("a");
  EXPECT_TRUE(next);
  EXPECT_FALSE(one.take("a"));
}

TEST_F(SharedPermitsTest, PermitsAreReleasedWhenTheAnswerWasLost) {
  one.book.loses_answers = true;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(one.take("a"));
  EXPECT_EQ(one.last, Outcome::StoreUnavailable);
  auto first = two.take("a");
  auto second = two.take("a");
  EXPECT_TRUE(first && second);
}

TEST_F(SharedPermitsTest, FailedReleasesAreRetried) {
  auto permit = one.take("a");
  auto other = one.take("a");
  one.book.is_gone = true;
  permit.reset();
  const base::Deadline now = base::monotonic_now();
  one.permits->tick(now + 1s);
  EXPECT_FALSE(two.take("a"));
  one.book.is_gone = false;
  one.permits->tick(now + 2s);
  EXPECT_TRUE(two.take("a"));
}

TEST_F(SharedPermitsTest, ExpiredPermitsAreNotReleased) {
  auto permit = one.take("a");
  one.book.is_gone = true;
  permit.reset();
  one.permits->tick(base::monotonic_now() + 31s);
  EXPECT_EQ(one.book.releases, 1);
}

TEST_F(SharedPermitsTest, ClosingTheStoreForgetsPermits) {
  auto permit = one.take("a");
  one.permits->close();
  EXPECT_FALSE(one.take("a"));
  EXPECT_EQ(one.last, Outcome::StoreUnavailable);
  permit.reset();
  EXPECT_EQ(one.permits->held(), 0U);
}

}  // namespace
}  // namespace penstock::gateway
