#include "properties/generators.hpp"
#include "properties/property.hpp"
#include "properties/subject.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

// One key asked under several quotas, in any order: overrides, a changed limit, limits that come
// with the request.
namespace penstock::properties {
namespace {

using boost::multiprecision::cpp_int;

constexpr int kMostSteps = 400;

class TwoQuotas : public ::testing::TestWithParam<Algorithm> {};

struct AdmittedUnder {
  Instant at;
  std::uint64_t cost = 0;
  Instant counts_until{};  // in full, of a window
};

// Until when what was just admitted counts in full, under the quota that the key drains under.
Instant counts_until(const Quota& owner, const oracle::Answer& answer, Instant now) {
  return core::with_algorithm(owner.algorithm(), [&]<class Algorithm>() {
    if constexpr (std::is_same_v<Algorithm, core::FixedWindow>) {
      return now + answer.reset_after;
    } else if constexpr (requires { Algorithm::counts_until(owner, now); }) {
      return Algorithm::counts_until(owner, now);
    } else {
      return Instant{};
    }
  });
}

// A history of checks, peeks and refunds of one key under quotas that take turns.
class History {
 public:
  explicit History(std::vector<Quota> quotas, Instant start)
      : quotas_(std::move(quotas)), subject_(quotas_.front()), now_(start) {}

  // Everything that happens is drawn from one number.
  void step(std::uint64_t draw) {
    const std::size_t chosen = take(draw, quotas_.size());
    const Quota& quota = quotas_[chosen];
    now_ += jump(quota, draw);
    subject_.change_quota(quota);
    const std::uint64_t action = take(draw, 20);
    if (action == 0) return refund(Cost{1 + take(draw, quota.capacity())});
    ask(chosen, Cost{action < 3 ? 0 : cost(quota, draw)});
  }

  [[nodiscard]] const std::vector<AdmittedUnder>& admitted() const { return admitted_; }
  [[nodiscard]] const std::vector<Quota>& quotas() const { return quotas_; }
  [[nodiscard]] bool refunded() const { return refunded_; }

 private:
  static std::uint64_t take(std::uint64_t& draw, std::uint64_t choices) {
    const std::uint64_t taken = draw % choices;
    draw /= choices;
    return taken;
  }

  Duration jump(const Quota& quota, std::uint64_t& draw) const {
    switch (take(draw, 8)) {
      case 0: return Duration{1};
      case 1: return last_.retry_after.value_or(Duration{0});
      case 2: return std::max(last_.retry_after.value_or(Duration{0}), Duration{1}) - Duration{1};
      case 3: return last_.reset_after;
      case 4:
        return Duration{static_cast<std::int64_t>(
            take(draw, static_cast<std::uint64_t>(2 * quota.period().count())))};
      default: return Duration{0};
    }
  }

  std::uint64_t cost(const Quota& quota, std::uint64_t& draw) const {
    switch (take(draw, 6)) {
      case 0: return quota.capacity();
      case 1: return 1 + take(draw, quota.capacity());
      case 2: return std::max<std::uint64_t>(1, last_.remaining);
      case 3: return std::uint64_t{last_.remaining} + 1;
      default: return 1;
    }
  }

  void ask(std::size_t chosen, Cost cost) {
    const Quota& quota = quotas_[chosen];
    const std::uint64_t used = subject_.used(now_);
    const core::AnyState before = subject_.state();
    const Quota owner = subject_.owner();
    last_ = subject_.check(cost, now_);
    // nothing is admitted that does not fit beside all usage, and nothing that fits is denied
    const std::uint64_t asked = std::max<std::uint64_t>(cost.units, 1);
    RC_ASSERT(last_.allowed == (used + asked <= quota.capacity()));
    if (last_.allowed && cost.units > 0) {
      RC_ASSERT(subject_.used(now_) == used + cost.units);
      admitted_.push_back({.at = now_,
                           .cost = cost.units,
                           .counts_until = counts_until(subject_.owner(), last_, now_)});
    } else {
      RC_ASSERT(subject_.state() == before);
      RC_ASSERT(subject_.owner() == owner || used == 0);
    }
  }

  void refund(Cost cost) {
    const std::uint64_t used = subject_.used(now_);
    const Quota owner = subject_.owner();
    subject_.refund(cost, now_);
    refunded_ = true;
    RC_ASSERT(subject_.owner() == owner);
    RC_ASSERT(subject_.used(now_) >= used - std::min(used, cost.units));
    RC_ASSERT(subject_.used(now_) <= used);
  }

  std::vector<Quota> quotas_;
  Subject subject_;
  Instant now_;
  oracle::Answer last_{};
  std::vector<AdmittedUnder> admitted_;
  bool refunded_ = false;
};

History any_history(const std::vector<Quota>& quotas) {
  History history(quotas, any_start());
  const auto draws =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t i = 0; i < draws.size() && i < kMostSteps; ++i) {
    // rapidcheck starts with small numbers: spread them
    history.step(draws[i] * 0x9e37'79b9'7f4a'7c15ULL);
  }
  return history;
}

// Half of the time all of the algorithm under test, small enough that they meet.
std::vector<Quota> any_quotas(Algorithm algorithm, bool windows_only) {
  const bool mixed = *rc::gen::arbitrary<bool>();
  std::vector<Quota> quotas{*small_quota(algorithm)};
  const int others = *rc::gen::inRange(1, 4);
  for (int i = 0; i < others; ++i) {
    Algorithm other = mixed ? *any_algorithm() : algorithm;
    const bool is_bucket = other == Algorithm::TokenBucket || other == Algorithm::Gcra;
    if (windows_only && is_bucket) other = algorithm;
    quotas.push_back(*rc::gen::oneOf(small_quota(other), any_quota(other)));
  }
  return quotas;
}

// For all i <= j: cost_i + ... + cost_j <= burst + rate * (t_j - t_i), with the largest burst and
// the largest rate of the quotas.
bool within_loosest_envelope(const History& history) {
  const auto& quotas = history.quotas();
  std::uint64_t burst = 0;
  cpp_int limit = 0;
  cpp_int period = 1;
  for (const Quota& quota : quotas) {
    burst = std::max<std::uint64_t>(burst, quota.capacity());
    if (cpp_int(quota.limit()) * period > limit * quota.period().count()) {
      limit = quota.limit();
      period = quota.period().count();
    }
  }
  cpp_int sum = 0;
  std::optional<cpp_int> least;
  for (const AdmittedUnder& one : history.admitted()) {
    const cpp_int refilled = cpp_int(one.at.time_since_epoch().count()) * limit;
    const cpp_int before = sum * period - refilled;
    least = least ? std::min<cpp_int>(*least, before) : before;
    sum += one.cost;
    if (sum * period - refilled > cpp_int(burst) * period + *least) return false;
  }
  return true;
}

// From each admission on, until its window ends, no more than the largest limit: whatever the other
// quotas are, and however short their windows.
bool within_largest_limit_per_window(const History& history) {
  std::uint64_t largest = 0;
  for (const Quota& quota : history.quotas()) {
    largest = std::max<std::uint64_t>(largest, quota.capacity());
  }
  const std::vector<AdmittedUnder>& admitted = history.admitted();
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    const Instant end = admitted[i].counts_until;
    std::uint64_t sum = 0;
    for (std::size_t j = i; j < admitted.size() && admitted[j].at < end; ++j) {
      sum += admitted[j].cost;
    }
    if (sum > largest) return false;
  }
  return true;
}

TEST_P(TwoQuotas, AdmitWhatFitsBesideAllUsageAndNothingElse) {
  check_property(300, [&] { static_cast<void>(any_history(any_quotas(GetParam(), false))); });
}

TEST_P(TwoQuotas, OfWindowsAdmitTheLargestLimitUntilTheWindowOfAnAdmissionEnds) {
  const Algorithm algorithm = GetParam();
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) return;
  check_property(300, [&] {
    const History history = any_history(any_quotas(algorithm, true));
    RC_PRE(!history.refunded());
    RC_ASSERT(within_largest_limit_per_window(history));
  });
}

TEST(TwoBucketQuotas, StayWithinTheLargestBurstPlusTheLargestRate) {
  check_property(600, [&] {
    std::vector<Quota> quotas;
    const int count = *rc::gen::inRange(2, 5);
    for (int i = 0; i < count; ++i) {
      const Algorithm algorithm =
          *rc::gen::arbitrary<bool>() ? Algorithm::TokenBucket : Algorithm::Gcra;
      quotas.push_back(*rc::gen::oneOf(small_quota(algorithm), any_quota(algorithm)));
    }
    const History history = any_history(quotas);
    RC_PRE(!history.refunded());
    RC_ASSERT(within_loosest_envelope(history));
  });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, TwoQuotas, ::testing::ValuesIn(kAlgorithms), name_of);

}  // namespace
}  // namespace penstock::properties
