#include "penstock/limiter.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace penstock {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// A limiter on a clock that stands still.
struct LimiterTest : ::testing::Test {
  ManualClock clock;
  Limiter limiter{MemoryOptions{.clock = &clock}};
  Limits limits =
      Limits::make({{"per-second", per_second(10)}, {"per-day", per_day(15).sliding_counter()}})
          .value();
};

TEST_F(LimiterTest, ChecksOneLimit) {
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(limiter.check("user:42", per_minute(100).burst(20)).allowed());
  const Decision decision = limiter.check("user:42", per_minute(100).burst(20));
  EXPECT_FALSE(decision.allowed());
  EXPECT_EQ(decision.retry_after(), Duration{600'000});
  EXPECT_EQ(ceil_seconds(*decision.retry_after()), seconds{1});
  EXPECT_TRUE(limiter.check("user:43", per_minute(100).burst(20)).allowed());
}

TEST_F(LimiterTest, ChecksSeveralNamedLimitsOfOneKey) {
  const Decision first = limiter.check("user:42", limits, Cost{10});
  EXPECT_TRUE(first.allowed());
  EXPECT_EQ(limits.name_of(first), "per-second");
  clock.advance(seconds{1});
  const Decision second = limiter.check("user:42", limits, Cost{6});
  EXPECT_FALSE(second.allowed());
  EXPECT_EQ(limits.name_of(second), "per-day");
}

TEST_F(LimiterTest, ChecksSeveralKeysTogether) {
  const auto ask = [&] {
    return limiter.check_all({
        {.key = "user:42", .quota = per_minute(2)},
        {.key = "org:7", .quota = per_minute(1000)},
        {.key = "everyone", .quota = per_second(50'000)},
    });
  };
  EXPECT_TRUE(ask().allowed());
  EXPECT_TRUE(ask().allowed());
  const Decision denied = ask();
  EXPECT_FALSE(denied.allowed());
  EXPECT_EQ(denied.decided_by(), 0U);
  EXPECT_EQ(limiter.peek("org:7", per_minute(1000)).remaining(), 998U);
}

TEST_F(LimiterTest, ReportsTheDecisionOfEachKey) {
  const std::vector<Check> checks{{"a", per_minute(2)}, {"b", per_minute(5)}};
  std::vector<Decision> each(2);
  EXPECT_EQ(limiter.check_all(checks, each).remaining(), 1U);
  EXPECT_EQ(each[0].remaining(), 1U);
  EXPECT_EQ(each[1].remaining(), 4U);
}

TEST_F(LimiterTest, ChecksManyRequestsInOneCall) {
  const std::vector<Check> checks{{"a", per_minute(1)}, {"b", per_minute(1)}, {"a", per_minute(1)}};
  std::vector<Decision> decisions(3);
  limiter.check_each(checks, decisions);
  EXPECT_TRUE(decisions[0].allowed());
  EXPECT_TRUE(decisions[1].allowed());
  EXPECT_FALSE(decisions[2].allowed());
}

TEST_F(LimiterTest, PeeksRefundsAndResets) {
  EXPECT_TRUE(limiter.check("k", per_minute(10), Cost{4}).allowed());
  EXPECT_EQ(limiter.peek("k", per_minute(10)).remaining(), 6U);
  EXPECT_EQ(limiter.refund("k", per_minute(10), Cost{3}).remaining(), 9U);
  EXPECT_EQ(limiter.refund("k", per_minute(10)).remaining(), 10U);
  EXPECT_FALSE(limiter.reset("k"));
  EXPECT_TRUE(limiter.check("k", limits, Cost{4}).allowed());
  EXPECT_EQ(limiter.peek("k", limits).remaining(), 6U);
  EXPECT_EQ(limiter.refund("k", limits, Cost{1}).remaining(), 7U);
  EXPECT_TRUE(limiter.reset("k", limits));
  EXPECT_EQ(limiter.peek("k", limits).remaining(), 10U);
}

TEST_F(LimiterTest, BlocksAndUnblocks) {
  limiter.block("k", minutes{10});
  EXPECT_EQ(limiter.check("k", per_minute(10)).outcome(), Outcome::Blocked);
  EXPECT_EQ(limiter.check("k", limits).outcome(), Outcome::Blocked);
  EXPECT_EQ(limiter.stats().blocked, 1U);
  EXPECT_TRUE(limiter.unblock("k"));
  EXPECT_TRUE(limiter.check("k", per_minute(10)).allowed());
}

TEST_F(LimiterTest, Counts) {
  Counters counters = limiter.counters();
  EXPECT_EQ(counters.add("downloads", 2, hours{1}).value(), 2);
  EXPECT_EQ(counters.add("spent", Decimal::parse("0.1").value()).value(),
            Decimal::parse("0.1").value());
  const Counters again = limiter.counters();
  EXPECT_EQ(again.get("downloads"), 2);
  EXPECT_EQ(again.get_decimal("spent"), Decimal::parse("0.1").value());
  clock.advance(hours{1});
  EXPECT_EQ(again.get("downloads"), 0);
  EXPECT_TRUE(counters.reset("spent"));
  EXPECT_FALSE(counters.reset("spent"));
}

TEST_F(LimiterTest, SweepsWhatHasExpired) {
  for (int i = 0; i < 100; ++i) static_cast<void>(limiter.check(std::to_string(i), per_second(1)));
  EXPECT_EQ(limiter.stats().keys, 100U);
  clock.advance(seconds{1});
  EXPECT_EQ(limiter.sweep(1'000'000), 100U);
  EXPECT_EQ(limiter.stats().keys, 0U);
  EXPECT_EQ(limiter.stats().expired, 100U);
}

TEST_F(LimiterTest, KeepsItsStateWhenMoved) {
  static_cast<void>(limiter.check("k", per_minute(10), Cost{10}));
  Limiter moved(std::move(limiter));
  EXPECT_FALSE(moved.check("k", per_minute(10)).allowed());
  Limiter assigned{MemoryOptions{.clock = &clock}};
  assigned = std::move(moved);
  EXPECT_FALSE(assigned.check("k", per_minute(10)).allowed());
  static_assert(std::is_nothrow_move_constructible_v<Limiter> &&
                std::is_nothrow_move_assignable_v<Limiter>);
  static_assert(!std::is_copy_constructible_v<Limiter> && !std::is_copy_assignable_v<Limiter>);
}

TEST_F(LimiterTest, CountersStayValidWhenTheirLimiterIsMoved) {
  Counters counters = limiter.counters();
  static_cast<void>(counters.add("n", 1));
  Limiter moved(std::move(limiter));
  EXPECT_EQ(counters.get("n"), 1);
  EXPECT_EQ(moved.counters().add("n", 1).value(), 2);
}

TEST(Limiter, UsesTheSystemClockByDefault) {
  Limiter limiter;
  const Quota quota = per_hour(2);
  EXPECT_TRUE(limiter.check("k", quota).allowed());
  EXPECT_TRUE(limiter.check("k", quota).allowed());
  const Decision denied = limiter.check("k", quota);
  EXPECT_FALSE(denied.allowed());
  EXPECT_LE(*denied.retry_after(), Duration{minutes{30}});
  EXPECT_GT(*denied.retry_after(), Duration{minutes{29}});
}

std::string complaint_about(const MemoryOptions& options) {
  try {
    const Limiter limiter{options};
  } catch (const std::invalid_argument& complaint) {
    return complaint.what();
  }
  return "none";
}

TEST(Limiter, RejectsOptionsThatCannotWorkAndNamesThemWithTheirValue) {
  EXPECT_EQ(complaint_about({.max_keys = 0}), "MemoryOptions: max_keys 0 must be at least 1");
  EXPECT_EQ(complaint_about({.max_keys = 4'294'967'297}),
            "MemoryOptions: max_keys 4294967297 is above the most, 4294967296");
  EXPECT_EQ(complaint_about({.max_keys = ~std::uint64_t{0}}),
            "MemoryOptions: max_keys 18446744073709551615 is above the most, 4294967296");
}

TEST(Limiter, TakesTheSmallestAndTheLargestOptions) {
  EXPECT_EQ(complaint_about({.max_keys = 1, .max_log_bytes = 0, .max_counters = 0}), "none");
  EXPECT_EQ(complaint_about({.max_keys = 4'294'967'296,
                             .max_log_bytes = ~std::uint64_t{0},
                             .max_counters = ~std::uint64_t{0}}),
            "none");
}

std::ptrdiff_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(Limiter, StartsNoThread) {
  const std::ptrdiff_t before = thread_count();
  Limiter limiter;
  for (int i = 0; i < 10'000; ++i)
    static_cast<void>(limiter.check(std::to_string(i), per_second(1)));
  limiter.sweep(1000);
  static_cast<void>(limiter.counters().add("n", 1));
  EXPECT_EQ(thread_count(), before);
}

}  // namespace
}  // namespace penstock
