#include "vectors/examples.hpp"

#include "vectors/section.hpp"

namespace penstock::vectors {
namespace {

// The start of a minute and of a second.
constexpr Instant kStart{std::chrono::seconds{1'700'000'040}};

constexpr Duration kSecond = std::chrono::seconds{1};
constexpr Duration kMinute = std::chrono::minutes{1};
constexpr Duration kTick{1};

Quota made(const QuotaSpec& spec) { return Quota::make(spec).value(); }

// Everything at once, denied until retry_after, allowed at it, and a cost that never fits.
std::string drained_at_once(const Quota& quota) {
  Section section("all at once; refused one microsecond before retry, allowed at it", quota);
  const std::uint64_t capacity = quota.capacity();
  section.check(kStart, 0);
  section.check(kStart, 3);
  section.check(kStart, capacity - 3);
  const oracle::Answer denied = section.check(kStart, 1);
  section.check(kStart, 0);
  section.check(kStart, capacity);
  section.check(kStart, capacity + 1);
  const Duration retry = denied.retry_after.value();
  section.check(kStart + retry - kTick, 1);
  section.check(kStart + retry, 1);
  section.check(kStart + retry, 2);
  const oracle::Answer last = section.check(kStart + retry + kTick, 0);
  const Instant idle = kStart + retry + kTick + last.reset_after;
  section.check(idle - kTick, 0);
  section.check(idle, 0);
  section.check(idle, capacity);
  return section.text();
}

std::string refunded(const Quota& quota) {
  Section section("refunds: the newest first, never more than was used", quota);
  section.refund(kStart, 1);
  section.check(kStart, 5);
  section.check(kStart + kSecond, 4);
  section.refund(kStart + kSecond, 3);
  section.check(kStart + kSecond, 0);
  section.refund(kStart + kSecond, 2);
  section.check(kStart + kSecond, 0);
  section.refund(kStart + kSecond, 1'000);
  section.check(kStart + kSecond, 0);
  section.check(kStart + 2 * kSecond, quota.capacity());
  section.check(kStart + 2 * kSecond, 1);
  return section.text();
}

std::string clock_steps(const Quota& quota) {
  Section section("the clock steps back a little, catches up, then steps back for good", quota);
  section.check(kStart, 4);
  section.check(kStart - kTick, 1);
  section.check(kStart - kSecond, 1);
  section.check(kStart - kSecond, quota.capacity());
  section.check(kStart - kTick, 0);
  section.check(kStart, 0);
  section.check(kStart + kSecond, 1);
  section.check(kStart - 100 * quota.period(), 0);
  section.check(kStart - 100 * quota.period(), quota.capacity());
  section.check(kStart - 100 * quota.period() + kSecond, 1);
  section.check(kStart - 99 * quota.period(), 1);
  section.check(kStart - 98 * quota.period(), 1);
  section.check(kStart - 97 * quota.period(), quota.capacity());
  return section.text();
}

// How far behind a clock may be before the state is moved.
Duration clock_tolerance(const Quota& quota) {
  return quota.is_bucket() ? quota.period() * quota.capacity() / quota.limit() : quota.period();
}

std::string edge_of_tolerance(const Quota& quota) {
  Section section("the clock is just near enough to be waited for, then just too far behind",
                  quota);
  const Instant edge = kStart - clock_tolerance(quota);
  section.check(kStart, 4);
  section.check(edge, 0);
  section.check(edge, quota.capacity());
  section.check(edge - kTick, 0);
  section.check(edge - kTick, quota.capacity());
  section.check(edge, 1);
  section.check(kStart, 1);
  return section.text();
}

std::string refunded_before_a_clock_step(const Quota& quota) {
  Section section("everything is refunded, then the clock steps back", quota);
  section.check(kStart, 5);
  section.refund(kStart, 5);
  section.check(kStart - kTick, 0);
  section.check(kStart - kTick, 1);
  section.check(kStart - 2 * kTick, 1);
  return section.text();
}

std::string around_a_boundary(const Quota& quota) {
  Section section("as much as possible around the end of a window", quota);
  const Instant boundary = kStart + quota.period();
  section.check(boundary - kTick, quota.limit());
  section.check(boundary - kTick, 1);
  section.check(boundary, 0);
  section.check(boundary, quota.limit());
  section.check(boundary, 1);
  oracle::Answer answer = section.check(boundary + quota.period() / 3, 1);
  section.check(boundary + quota.period() - kTick, 1);
  section.check(boundary + quota.period(), 1);
  answer = section.check(boundary + quota.period() + kTick, quota.limit());
  section.check(boundary + quota.period() + kTick + answer.reset_after, quota.limit());
  return section.text();
}

// An interval of 1.67 us per request must not be rounded to 1 or 2.
std::string interval_is_not_rounded(Algorithm algorithm) {
  const Quota quota = made(per_second(600'000).with(algorithm).burst(2));
  Section section("600000 a second, asked every microsecond: three of five, for ever", quota);
  for (int tick = 0; tick < 20; ++tick) section.check(kStart + tick * kTick, 1);
  return section.text();
}

// If usage were forgotten every whole second, this would admit both of each pair.
std::string usage_outlives_the_second(Algorithm algorithm) {
  const Quota quota = made(per_second(1).with(algorithm).burst(3));
  Section section("two requests every 1.001 s at one a second: the debt is never forgotten", quota);
  for (int pair = 0; pair < 8; ++pair) {
    const Instant now = kStart + pair * Duration{1'001'000};
    section.check(now, 1);
    section.check(now, 1);
  }
  return section.text();
}

std::string no_second_burst_after_idling(Algorithm algorithm) {
  const Quota quota = made(per_second(10).with(algorithm).burst(5));
  Section section("idling for a day saves up one burst, not two", quota);
  section.check(kStart, 5);
  section.check(kStart + Days{1}, 5);
  section.check(kStart + Days{1}, 1);
  section.check(kStart + Days{1} + Duration{99'999}, 1);
  section.check(kStart + Days{1} + Duration{100'000}, 1);
  section.check(kStart + Days{1} + Duration{100'000}, 1);
  return section.text();
}

}  // namespace

std::string worked_examples(Algorithm algorithm) {
  const bool is_bucket = algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra;
  if (is_bucket) {
    const Quota quota = made(per_minute(100).burst(20).with(algorithm));
    return drained_at_once(quota) + refunded(quota) + clock_steps(quota) +
           edge_of_tolerance(quota) + refunded_before_a_clock_step(quota) +
           interval_is_not_rounded(algorithm) + usage_outlives_the_second(algorithm) +
           no_second_burst_after_idling(algorithm);
  }
  QuotaSpec spec = per(10, kMinute).with(algorithm);
  spec.sub_window_count = 6;
  const Quota quota = made(spec);
  return drained_at_once(quota) + refunded(quota) + clock_steps(quota) + edge_of_tolerance(quota) +
         refunded_before_a_clock_step(quota) + around_a_boundary(quota);
}

}  // namespace penstock::vectors
