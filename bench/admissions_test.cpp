#include "bench/admissions.hpp"

#include "penstock/clock.hpp"
#include "penstock/limiter.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::bench {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kPeriod = milliseconds{100};

// A client that sends at full speed.
struct Greedy {
  Duration start{0};         // after the beginning of an aligned window
  std::uint64_t before = 0;  // used earlier, not counted
  Duration pause{0};         // between that and the start
};

// Admissions within this span, start and end included.
std::uint64_t admitted_by(const Quota& quota, Duration span, const Greedy& greedy) {
  ManualClock clock(Instant{hours{24}} + greedy.start - greedy.pause);
  Limiter limiter(MemoryOptions{.clock = &clock});
  if (greedy.before > 0) static_cast<void>(limiter.check("k", quota, Cost{greedy.before}));
  clock.advance(greedy.pause);
  const Instant end = clock.now() + span;
  std::uint64_t admitted = 0;
  for (;;) {
    const Decision decision = limiter.check("k", quota);
    if (decision.allowed()) {
      ++admitted;
      continue;
    }
    if (clock.now() + *decision.retry_after() > end) return admitted;
    clock.advance(*decision.retry_after());
  }
}

constexpr Duration kSpans[] = {Duration{0},           Duration{1},       milliseconds{37},
                               kPeriod - Duration{1}, kPeriod,           kPeriod + Duration{1},
                               2 * kPeriod,           milliseconds{333}, 5 * kPeriod,
                               milliseconds{950}};

TEST(Admissions, TheBoundIsExactForBuckets) {
  for (const Quota& quota :
       {Quota(per(7, kPeriod)), Quota(per(7, kPeriod).burst(3)), Quota(per(7, kPeriod).burst(20)),
        Quota(per(7, kPeriod).gcra().burst(11))}) {
    for (const Duration span : kSpans) {
      EXPECT_EQ(admitted_by(quota, span, {}), max_admitted_in(quota, span))
          << to_string(quota) << " in " << span.count() << " us";
    }
  }
}

// The worst start is the last microsecond of a window that was not used so far.
TEST(Admissions, TheBoundIsExactForAlignedWindows) {
  const Quota quota = per(7, kPeriod).fixed_window();
  for (const Duration span : kSpans) {
    std::uint64_t worst = 0;
    for (const Duration start : {Duration{0}, Duration{milliseconds{50}}, kPeriod - Duration{1}}) {
      worst = std::max(worst, admitted_by(quota, span, {.start = start}));
    }
    EXPECT_EQ(worst, max_admitted_in(quota, span)) << span.count() << " us";
  }
}

// The worst start is as late in a window, which the request that opened it must have begun.
TEST(Admissions, TheBoundIsOneShortOfExactForAnchoredWindows) {
  const Quota quota = per(7, kPeriod).anchored_window();
  for (const Duration span : kSpans) {
    const Greedy late{.before = 1, .pause = kPeriod - Duration{1}};
    const std::uint64_t worst =
        std::max(admitted_by(quota, span, {}), admitted_by(quota, span, late));
    EXPECT_LE(worst, max_admitted_in(quota, span)) << span.count() << " us";
    EXPECT_GE(worst + 1, max_admitted_in(quota, span)) << span.count() << " us";
  }
}

TEST(Admissions, TheBoundIsExactForTheSlidingLog) {
  const Quota quota = per(7, kPeriod).sliding_log();
  for (const Duration span : kSpans) {
    EXPECT_EQ(admitted_by(quota, span, {}), max_admitted_in(quota, span)) << span.count() << " us";
  }
}

TEST(Admissions, TheBoundHoldsForTheOthers) {
  for (const Quota& quota :
       {Quota(per(7, kPeriod).sliding_counter()), Quota(per(7, kPeriod).sub_windows(10))}) {
    for (const Duration span : kSpans) {
      for (const Duration start :
           {Duration{0}, Duration{milliseconds{50}}, kPeriod - Duration{1}}) {
        EXPECT_LE(admitted_by(quota, span, {.start = start}), max_admitted_in(quota, span))
            << to_string(quota);
      }
    }
  }
}

TEST(Admissions, TheBoundDoesNotOverflow) {
  const Quota quota = per(Quota::kMaxLimit, Quota::kMinPeriod);
  // 10^9 a millisecond for a day
  EXPECT_EQ(max_admitted_in(quota, Days{1}), 1'000'000'000ULL + 86'400'000ULL * 1'000'000'000ULL);
  const Quota slow = per(999'999'937, Quota::kMaxPeriod);
  EXPECT_EQ(max_admitted_in(slow, Quota::kMaxPeriod - Duration{1}), 2 * 999'999'937ULL - 1);
}

TEST(Admissions, CountsWhatWasAdmittedBeyondTheBound) {
  const Quota quota = per_hour(10);
  Admissions admissions(3);
  for (int i = 0; i < 10; ++i) admissions.count(0);
  for (int i = 0; i < 12; ++i) admissions.count(1);
  EXPECT_EQ(admissions.beyond(quota, seconds{1}), 2U);
  for (int i = 0; i < 15; ++i) admissions.count(2);
  EXPECT_EQ(admissions.beyond(quota, seconds{1}), 7U);
  EXPECT_EQ(admissions.beyond(quota, hours{1}), 0U) << "an hour refills ten more";
}

TEST(Admissions, UnusedQuotaOfOneKeyDoesNotCountForAnother) {
  Admissions admissions(1000);
  for (int i = 0; i < 11; ++i) admissions.count(500);
  EXPECT_EQ(admissions.beyond(per_hour(10), seconds{1}), 1U);
}

}  // namespace
}  // namespace penstock::bench
