#include "properties/generators.hpp"

#include <algorithm>
#include <numeric>
#include <ostream>

namespace penstock {

void showValue(const Quota& quota, std::ostream& out) { out << to_string(quota); }

}  // namespace penstock

namespace penstock::oracle {

void showValue(const Step& step, std::ostream& out) {
  out << "{jump " << int{static_cast<std::uint8_t>(step.jump)} << ", ask "
      << int{static_cast<std::uint8_t>(step.ask)} << ", action "
      << int{static_cast<std::uint8_t>(step.action)} << ", draw " << step.draw << "}";
}

}  // namespace penstock::oracle

namespace penstock::properties {
namespace {

using oracle::Action;
using oracle::Ask;
using oracle::Jump;
using oracle::Step;

struct Wish {
  std::int64_t limit;
  std::int64_t period_ms;
  std::int64_t burst;
  std::int64_t parts;
};

// The valid quota nearest to the wish.
Quota granted(Algorithm algorithm, Wish wish) {
  QuotaSpec spec = per(wish.limit, std::chrono::milliseconds{wish.period_ms}).with(algorithm);
  if (algorithm == Algorithm::SlidingLog) spec.limit = std::min(spec.limit, Quota::kMaxLogLimit);
  if (algorithm == Algorithm::SubWindows) {
    spec.sub_window_count = wish.parts;
    const Duration divisible{std::lcm<std::int64_t>(1000, wish.parts)};
    spec.period = std::max(divisible, spec.period - spec.period % divisible);
  }
  if (algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra) {
    spec.capacity = wish.burst;
    while (Quota::find_defect(spec) == QuotaDefect::RefillTooSlow) *spec.capacity /= 2;
  }
  return Quota::make(spec).value();
}

// Uniform, independent of RapidCheck's size.
template <class Integer>
rc::Gen<Integer> between(Integer least, Integer most) {
  return rc::gen::resize(rc::kNominalSize,
                         rc::gen::inRange<Integer>(least, static_cast<Integer>(most + 1)));
}

// Every order of magnitude is equally likely.
rc::Gen<std::int64_t> magnitude(std::int64_t most) {
  return rc::gen::apply(
      [most](int shift, std::int64_t draw) {
        return std::max<std::int64_t>(1, most / (std::int64_t{1} << shift)) * draw / 1'000'000 + 1;
      },
      between(0, 40), between<std::int64_t>(0, 999'999));
}

template <class Limits, class Periods, class Bursts>
rc::Gen<Quota> quotas(Algorithm algorithm, Limits limits, Periods periods, Bursts bursts) {
  return rc::gen::apply(
      [algorithm](std::int64_t limit, std::int64_t period_ms, std::int64_t burst,
                  std::int64_t parts) {
        return granted(algorithm, {limit, period_ms, burst, parts});
      },
      limits, periods, bursts, between<std::int64_t>(Quota::kMinSubWindows, Quota::kMaxSubWindows));
}

rc::Gen<Quota> everyday_quota(Algorithm algorithm) {
  return quotas(
      algorithm, rc::gen::element<std::int64_t>(1, 10, 100, 600, 5'000, 70'000, 600'000, 1'000'000),
      rc::gen::element<std::int64_t>(1'000, 10'000, 60'000, 300'000, 3'600'000, 86'400'000),
      rc::gen::element<std::int64_t>(1, 5, 20, 100, 1'000, 1'000'000));
}

rc::Gen<Quota> extreme_quota(Algorithm algorithm) {
  // 999999937 and 999983 are prime: their rates cannot be reduced.
  constexpr std::int64_t kMaxMillis = Quota::kMaxPeriod / std::chrono::milliseconds{1};
  return quotas(
      algorithm,
      rc::gen::oneOf(magnitude(Quota::kMaxLimit),
                     rc::gen::element<std::int64_t>(1, 3, 7, 999'983, 999'999'937, 1'000'000'000)),
      rc::gen::oneOf(
          magnitude(kMaxMillis),
          rc::gen::element<std::int64_t>(1, 7, 999'983, 86'399'999, kMaxMillis - 1, kMaxMillis)),
      rc::gen::oneOf(magnitude(Quota::kMaxLimit),
                     rc::gen::element<std::int64_t>(1, 2, 999'999'937, 1'000'000'000)));
}

rc::Gen<Steps> steps(int most, std::uint8_t jumps, bool refunds) {
  const rc::Gen<Step> one = rc::gen::apply(
      [refunds](std::uint8_t jump, std::uint8_t ask, int kind, std::uint64_t draw) {
        return Step{.jump = static_cast<Jump>(jump),
                    .ask = static_cast<Ask>(ask),
                    .action = refunds && kind >= 85 ? Action::Refund : Action::Check,
                    .draw = draw};
      },
      between<std::uint8_t>(0, static_cast<std::uint8_t>(jumps - 1)),
      // Half of the requests cost one, as most requests do.
      rc::gen::oneOf(rc::gen::just<std::uint8_t>(0),
                     between<std::uint8_t>(0, static_cast<std::uint8_t>(oracle::kAsks - 1))),
      between(0, 99), between<std::uint64_t>(0, std::uint64_t{1} << 62U));
  return rc::gen::resize(most, rc::gen::container<Steps>(one));
}

}  // namespace

rc::Gen<Quota> small_quota(Algorithm algorithm) {
  return quotas(algorithm, between<std::int64_t>(1, 8), between<std::int64_t>(1, 6),
                between<std::int64_t>(1, 10));
}

rc::Gen<Quota> any_quota(Algorithm algorithm) {
  return rc::gen::oneOf(small_quota(algorithm), everyday_quota(algorithm),
                        extreme_quota(algorithm));
}

rc::Gen<Algorithm> any_algorithm() { return rc::gen::elementOf(kAlgorithms); }

rc::Gen<Steps> forward_checks(int most) { return steps(most, oracle::kForwardJumps, false); }
rc::Gen<Steps> forward_steps(int most) { return steps(most, oracle::kForwardJumps, true); }
rc::Gen<Steps> any_steps(int most) { return steps(most, oracle::kJumps, true); }

Instant any_start() {
  const std::int64_t latest = oracle::Walk::kDefaultEnd.time_since_epoch().count();
  return Instant{Duration{*between<std::int64_t>(0, latest)}};
}

std::string name_of(const ::testing::TestParamInfo<Algorithm>& parameter) {
  return std::string(to_string(parameter.param));
}

}  // namespace penstock::properties
