#include "oracle/model.hpp"

#include "oracle/buckets.hpp"
#include "oracle/counters.hpp"
#include "oracle/fixed_windows.hpp"
#include "oracle/log.hpp"

#include <algorithm>

namespace penstock::oracle {
namespace {

// The smallest wait at which the monotonic predicate `passes` is true.
template <class Passes>
Duration least_wait(Passes passes) {
  if (passes(Duration{0})) return Duration{0};
  Duration too_short{0};
  Duration enough{1};
  while (!passes(enough)) {
    too_short = enough;
    enough *= 2;
  }
  while (enough - too_short > Duration{1}) {
    const Duration middle = too_short + (enough - too_short) / 2;
    (passes(middle) ? enough : too_short) = middle;
  }
  return enough;
}

}  // namespace

Answer answer_of(const Decision& decision) {
  return {.allowed = decision.allowed(),
          .never = decision.outcome() == Outcome::NeverFits,
          .limit = decision.limit(),
          .remaining = decision.remaining(),
          .reset_after = decision.reset_after(),
          .retry_after = decision.retry_after()};
}

std::string to_string(const Answer& answer) {
  const std::string outcome = answer.allowed ? "allowed" : answer.never ? "never" : "denied";
  const std::string retry =
      answer.retry_after ? std::to_string(answer.retry_after->count()) : std::string("never");
  return outcome + " limit=" + std::to_string(answer.limit) +
         " remaining=" + std::to_string(answer.remaining) +
         " reset_us=" + std::to_string(answer.reset_after.count()) + " retry_us=" + retry;
}

Answer Model::check(Cost cost, Instant now) {
  repair(now);
  Answer answer;
  answer.limit = capacity_;
  answer.never = cost.units > capacity_;
  // A peek costs nothing, but is answered like a check of one unit.
  const std::uint64_t asked = std::max<std::uint64_t>(cost.units, 1);
  answer.allowed = !answer.never && fits(asked, now);
  if (!answer.never) {
    answer.retry_after = least_wait([&](Duration wait) { return fits(asked, now + wait); });
  }
  if (answer.allowed && cost.units > 0) take(cost.units, now);
  answer.remaining = remaining(now);
  answer.reset_after = least_wait([&](Duration wait) { return unused(now + wait); });
  return answer;
}

Answer Model::peek(Cost cost, Instant now) const { return clone()->check(cost, now); }

void Model::refund(Cost cost, Instant now) {
  repair(now);
  refund_units(cost.units, now);
}

std::uint32_t Model::remaining(Instant now) const {
  std::uint32_t fitting = 0;
  std::uint32_t too_much = capacity_ + 1;
  while (too_much - fitting > 1) {
    const std::uint32_t middle = fitting + (too_much - fitting) / 2;
    (fits(middle, now) ? fitting : too_much) = middle;
  }
  return fitting;
}

std::unique_ptr<Model> make_model(const Quota& quota) {
  switch (quota.algorithm()) {
    case Algorithm::TokenBucket: return std::make_unique<TokenBucketModel>(quota);
    case Algorithm::Gcra: return std::make_unique<GcraModel>(quota);
    case Algorithm::FixedWindow: return std::make_unique<AlignedWindowModel>(quota);
    case Algorithm::AnchoredWindow: return std::make_unique<AnchoredWindowModel>(quota);
    case Algorithm::SlidingLog: return std::make_unique<SlidingLogModel>(quota);
    case Algorithm::SlidingCounter: return std::make_unique<SlidingCounterModel>(quota);
    case Algorithm::SubWindows: return std::make_unique<SubWindowsModel>(quota);
  }
  return nullptr;
}

}  // namespace penstock::oracle
