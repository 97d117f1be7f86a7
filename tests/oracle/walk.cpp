#include "oracle/walk.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <array>

namespace penstock::oracle {
namespace {

using boost::multiprecision::cpp_int;

constexpr Duration kTick{1};
constexpr Duration kFar = Days{5 * 365};

Duration below(std::uint64_t draw, Duration bound) {
  return Duration{static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(bound.count()))};
}

Duration refill_time(const Quota& quota) {
  const cpp_int tokens_times_period = cpp_int(quota.capacity()) * quota.period().count();
  return Duration{
      static_cast<std::int64_t>((tokens_times_period + quota.limit() - 1) / quota.limit())};
}

}  // namespace

Walk::Walk(const Quota& quota, Instant start, Instant end)
    : period_(quota.period()),
      slot_(quota.period() / std::max(quota.sub_window_count(), 1U)),
      token_(quota.period() / quota.limit() + kTick),
      refill_(refill_time(quota)),
      capacity_(quota.capacity()),
      start_(start),
      end_(end),
      now_(start),
      last_{.limit = quota.capacity(), .remaining = quota.capacity(), .retry_after = Duration{0}} {}

Duration Walk::until_boundary() const { return slot_ - now_.time_since_epoch() % slot_; }

Duration Walk::tolerance(std::uint64_t draw) const {
  const std::array about{refill_, period_, 2 * period_, period_ + slot_, last_.reset_after};
  return about[draw % about.size()] + Duration{static_cast<std::int64_t>(draw / 8 % 5) - 2};
}

Duration Walk::length(const Step& step) const {
  const Duration retry = last_.retry_after.value_or(Duration{0});
  switch (step.jump) {
    case Jump::Stay: return Duration{0};
    case Jump::Tick: return kTick;
    case Jump::PartOfToken: return below(step.draw, 2 * token_);
    case Jump::JustBeforeRetry: return std::max(retry - kTick, Duration{0});
    case Jump::AtRetry: return retry;
    case Jump::JustAfterRetry: return retry + kTick;
    case Jump::JustBeforeReset: return std::max(last_.reset_after - kTick, Duration{0});
    case Jump::AtReset: return last_.reset_after;
    case Jump::JustBeforeBoundary: return until_boundary() - kTick;
    case Jump::AtBoundary: return until_boundary();
    case Jump::JustAfterBoundary: return until_boundary() + kTick;
    case Jump::PartOfPeriod: return below(step.draw, period_);
    case Jump::AboutOnePeriod: return period_ - kTick + below(step.draw, 3 * kTick);
    case Jump::PartOfRefill: return below(step.draw, refill_);
    case Jump::LongIdle: return 2 * std::max(period_, refill_) + below(step.draw, period_);
    case Jump::BackOneTick: return -kTick;
    case Jump::BackPartOfPeriod: return -below(step.draw, period_);
    case Jump::BackPartOfRefill: return -below(step.draw, refill_);
    case Jump::BackAboutTolerance: return -tolerance(step.draw);
    case Jump::BackFar: return -below(step.draw, kFar);
  }
  return Duration{0};
}

Cost Walk::cost(const Step& step) const {
  switch (step.ask) {
    case Ask::One: return Cost{1};
    case Ask::Nothing: return Cost{0};
    case Ask::Two: return Cost{2};
    case Ask::Remaining: return Cost{last_.remaining};
    case Ask::OneMoreThanRemaining: return Cost{std::uint64_t{last_.remaining} + 1};
    case Ask::Everything: return Cost{capacity_};
    case Ask::OneMoreThanEverything: return Cost{capacity_ + 1};
    case Ask::SomePart: return Cost{step.draw / 16 % capacity_ + 1};
    case Ask::Half: return Cost{(capacity_ + 1) / 2};
    case Ask::Absurd: break;
  }
  return Cost{std::uint64_t{1} << (32U + step.draw % 32U)};
}

Move Walk::next(const Step& step) {
  now_ += length(step);
  if (now_ > end_) now_ = start_;
  now_ = std::max(now_, Instant{});
  return {.action = step.action, .cost = cost(step), .now = now_};
}

}  // namespace penstock::oracle
