#include "properties/generators.hpp"
#include "properties/key_under_test.hpp"
#include "properties/property.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace penstock::properties {
namespace {

using boost::multiprecision::cpp_int;

struct Admission {
  Instant at;
  std::uint64_t cost = 0;
};

std::vector<Admission> admissions(const Quota& quota, Instant start, const Steps& steps) {
  KeyUnderTest subject(quota);
  oracle::Walk walk(quota, start, kNoEnd);
  std::vector<Admission> admitted;
  for (const oracle::Step& step : steps) {
    const oracle::Move move = walk.next(step);
    const oracle::Answer answer = subject.check(move.cost, move.now);
    if (answer.allowed && move.cost.units > 0)
      admitted.push_back({.at = move.now, .cost = move.cost.units});
    walk.observe(answer);
  }
  return admitted;
}

// The maximum in any interval (t - period, t].
std::uint64_t max_in_any_period(const std::vector<Admission>& admitted, Duration period) {
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  auto oldest = admitted.begin();
  for (const Admission& one : admitted) {
    sum += one.cost;
    for (; oldest->at <= one.at - period; ++oldest) sum -= oldest->cost;
    most = std::max(most, sum);
  }
  return most;
}

// For all i <= j: cost_i + ... + cost_j <= burst + rate * (t_j - t_i). With S the running sum this
// is S_j - rate * t_j <= burst + min over i of (S_(i-1) - rate * t_i); all terms multiplied by the
// period.
bool within_envelope(const std::vector<Admission>& admitted, const Quota& quota) {
  const cpp_int period = quota.period().count();
  cpp_int sum = 0;
  std::optional<cpp_int> least;
  for (const Admission& one : admitted) {
    const cpp_int refilled = cpp_int(one.at.time_since_epoch().count()) * quota.limit();
    const cpp_int before = sum * period - refilled;
    least = least ? std::min<cpp_int>(*least, before) : before;
    sum += one.cost;
    if (sum * period - refilled > cpp_int(quota.capacity()) * period + *least) return false;
  }
  return true;
}

std::uint64_t most_in_aligned_windows(const std::vector<Admission>& admitted, Duration period) {
  std::map<std::int64_t, std::uint64_t> windows;
  std::uint64_t most = 0;
  for (const Admission& one : admitted) {
    most = std::max(most, windows[one.at.time_since_epoch() / period] += one.cost);
  }
  return most;
}

std::uint64_t most_in_anchored_windows(const std::vector<Admission>& admitted, Duration period) {
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  Instant end{};
  for (const Admission& one : admitted) {
    if (one.at >= end) {
      end = one.at + period;
      sum = 0;
    }
    sum += one.cost;
    most = std::max(most, sum);
  }
  return most;
}

template <class Holds>
void check_envelope(Algorithm algorithm, Holds holds) {
  check_property(300, [&] {
    const Quota quota = *rc::gen::oneOf(small_quota(algorithm), any_quota(algorithm));
    RC_ASSERT(holds(admissions(quota, any_start(), *forward_checks(400)), quota));
  });
}

TEST(Envelope, TokenBucketNeverExceedsBurstPlusRate) {
  check_envelope(Algorithm::TokenBucket, within_envelope);
}

TEST(Envelope, GcraNeverExceedsBurstPlusRate) { check_envelope(Algorithm::Gcra, within_envelope); }

TEST(Envelope, FixedWindowHoldsPerWindowAndTwiceThatInAnyPeriod) {
  check_envelope(Algorithm::FixedWindow, [](const auto& admitted, const Quota& quota) {
    return most_in_aligned_windows(admitted, quota.period()) <= quota.limit() &&
           max_in_any_period(admitted, quota.period()) <= 2 * std::uint64_t{quota.limit()};
  });
}

TEST(Envelope, AnchoredWindowHoldsPerWindowAndTwiceThatInAnyPeriod) {
  check_envelope(Algorithm::AnchoredWindow, [](const auto& admitted, const Quota& quota) {
    return most_in_anchored_windows(admitted, quota.period()) <= quota.limit() &&
           max_in_any_period(admitted, quota.period()) <= 2 * std::uint64_t{quota.limit()};
  });
}

TEST(Envelope, SlidingLogHoldsInAnyPeriod) {
  check_envelope(Algorithm::SlidingLog, [](const auto& admitted, const Quota& quota) {
    return max_in_any_period(admitted, quota.period()) <= quota.limit();
  });
}

TEST(Envelope, SubWindowsHoldInAnyPeriod) {
  check_envelope(Algorithm::SubWindows, [](const auto& admitted, const Quota& quota) {
    return max_in_any_period(admitted, quota.period()) <= quota.limit();
  });
}

TEST(Envelope, SlidingCounterStaysBelowTwiceTheLimitInAnyPeriod) {
  check_envelope(Algorithm::SlidingCounter, [](const auto& admitted, const Quota& quota) {
    return max_in_any_period(admitted, quota.period()) < 2 * std::uint64_t{quota.limit()};
  });
}

}  // namespace
}  // namespace penstock::properties
