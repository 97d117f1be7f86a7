#include "reference/quota_history.hpp"

#include "base/wide.hpp"
#include "reference/show_decision.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

namespace penstock::reference {
namespace {

using Key = TwoKeys::Key;

// The next number below `choices` of a sequence seeded with `draw` (SplitMix64).
std::uint64_t take(std::uint64_t& draw, std::uint64_t choices) {
  draw += 0x9e37'79b9'7f4a'7c15ULL;
  std::uint64_t mixed = draw;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58'476d'1ce4'e5b9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d0'49bb'1331'11ebULL;
  return (mixed ^ (mixed >> 31U)) % choices;
}

// Minimum time for which an admission counts in full, according to its own quota.
Instant counts_until(const Quota& quota, const Decision& said, Instant now) {
  const auto next_multiple = [&](Duration length) {
    return now - now.time_since_epoch() % length + length;
  };
  switch (quota.algorithm()) {
    case Algorithm::FixedWindow:
    case Algorithm::SlidingCounter: return next_multiple(quota.period());  // then it is weighted
    case Algorithm::AnchoredWindow: return now + said.reset_after();
    case Algorithm::SlidingLog: return now + quota.period();
    case Algorithm::SubWindows:
      return next_multiple(quota.period() / quota.sub_window_count()) + quota.period();
    case Algorithm::TokenBucket:
    case Algorithm::Gcra: break;
  }
  return Instant{};
}

bool has_sliding_counter(const std::vector<Quota>& quotas) {
  return std::any_of(quotas.begin(), quotas.end(), [](const Quota& quota) {
    return quota.algorithm() == Algorithm::SlidingCounter;
  });
}

std::string text_of(const Quota& quota, Cost cost) {
  return to_string(quota) + ", cost " + std::to_string(cost.units);
}

std::string text_of(const Decision& decision) {
  std::ostringstream out;
  showValue(decision, out);
  return out.str();
}

}  // namespace

QuotaHistory::QuotaHistory(TwoKeys& keys, std::vector<Quota> quotas, Instant start, Instant latest,
                           Refunds refunds)
    : keys_(keys), quotas_(std::move(quotas)), refunds_(refunds), now_(start), latest_(latest) {
  const auto widest =
      std::max_element(quotas_.begin(), quotas_.end(),
                       [](const Quota& a, const Quota& b) { return a.capacity() < b.capacity(); });
  widest_ = static_cast<std::size_t>(widest - quotas_.begin());
  keys_.set_clock(now_);
  fresh_ = shown_ = keys_.peek(Key::Asked, quotas_);
}

std::string QuotaHistory::step(std::uint64_t draw) {
  const std::size_t chosen = take(draw, quotas_.size());
  move_clock(quotas_[chosen], draw);
  std::string problem = compare_keys();  // after the previous step and the clock move
  if (problem.empty()) problem = act(chosen, draw);
  return problem.empty() ? problem : problem + "\n" + story_;
}

// Moves to a time just before or after something changes for this key.
void QuotaHistory::move_clock(const Quota& quota, std::uint64_t& draw) {
  const Duration wait = last_.retry_after().value_or(Duration{0});
  Duration jump{0};
  switch (take(draw, 8)) {
    case 0: jump = Duration{1}; break;
    case 1: jump = wait; break;
    case 2: jump = std::max(wait - Duration{1}, Duration{0}); break;
    case 3: jump = last_.reset_after(); break;
    case 4:
      jump = Duration{static_cast<std::int64_t>(
          take(draw, static_cast<std::uint64_t>(2 * quota.period().count())))};
      break;
    default: break;
  }
  if (jump > latest_ - now_) return;
  now_ += jump;
  keys_.set_clock(now_);
  story_ += "at " + std::to_string(now_.time_since_epoch().count()) + "\n";
}

Cost QuotaHistory::draw_cost(const Quota& quota, std::uint64_t& draw) const {
  switch (take(draw, 6)) {
    case 0: return Cost{quota.capacity()};
    case 1: return Cost{1 + take(draw, quota.capacity())};
    case 2: return Cost{std::max<std::uint64_t>(1, last_.remaining())};
    case 3: return Cost{std::uint64_t{last_.remaining()} + 1};
    default: return Cost{1};
  }
}

std::string QuotaHistory::act(std::size_t chosen, std::uint64_t& draw) {
  const Quota& quota = quotas_[chosen];
  const std::uint64_t dice = take(draw, 100);
  if (dice == 0) return reset();
  if (dice == 1) {
    block(Duration{static_cast<std::int64_t>(
        1 + take(draw, static_cast<std::uint64_t>(quota.period().count())))});
    return {};
  }
  if (dice < 30 && is_blocked()) {
    block(Duration{0});
    return {};
  }
  if (dice < 7 && refunds_ == Refunds::Some) {
    return refund(quota, quotas_[take(draw, quotas_.size())], draw_cost(quota, draw));
  }
  if (dice < 15) return ask(quota, Cost{0});
  if (dice < 20) return ask_and_count_denied(quota, draw_cost(quota, draw));
  return ask(quota, draw_cost(quota, draw));
}

std::string QuotaHistory::ask(const Quota& quota, Cost cost) {
  last_ = keys_.check(Key::Asked, quota, cost);
  story_ += "check " + text_of(quota, cost) + " -> " + text_of(last_) + "\n";
  if (is_blocked()) return last_.outcome() == Outcome::Blocked ? "" : "a blocked key was decided";
  const std::uint64_t before = used();
  const bool fits = before + std::max<std::uint64_t>(cost.units, 1) <= quota.capacity();
  if (last_.allowed() != fits) return fits ? "denied what fits" : "admitted what does not fit";
  if (!fits || cost.units == 0) return {};
  static_cast<void>(keys_.check(Key::Twin, quota, cost));
  admitted_.push_back(
      {.at = now_, .cost = cost.units, .counts_until = counts_until(quota, last_, now_)});
  shown_ = keys_.peek(Key::Asked, quotas_);
  return used() == before + cost.units ? "" : "an admission was not charged";
}

// As the service does for count_denied: a denial charges what is left.
std::string QuotaHistory::ask_and_count_denied(const Quota& quota, Cost cost) {
  std::string problem = ask(quota, cost);
  const bool is_charged =
      last_.outcome() == Outcome::Denied || last_.outcome() == Outcome::NeverFits;
  if (!problem.empty() || !is_charged || last_.remaining() == 0) return problem;
  problem = ask(quota, Cost{last_.remaining()});
  if (!problem.empty() || is_blocked()) return problem;
  return used() == quota.capacity() ? "" : "a denial did not charge what was left";
}

std::string QuotaHistory::refund(const Quota& quota, const Quota& other, Cost cost) {
  story_ += "refund " + text_of(quota, cost) + ", of the twin " + to_string(other) + "\n";
  keys_.refund(Key::Asked, quota, cost);
  keys_.refund(Key::Twin, other, cost);
  if (is_blocked()) return {};
  const std::uint64_t before = used();
  const std::uint64_t least = before - std::min(before, cost.units);
  shown_ = keys_.peek(Key::Asked, quotas_);
  if (used() < least || used() > before) return "a refund left other usage than it should";
  // A sliding counter weighs refunds of the previous window.
  return used() == least || has_sliding_counter(quotas_) ? "" : "a refund left usage behind";
}

std::string QuotaHistory::reset() {
  story_ += "reset\n";
  keys_.reset(Key::Asked);
  keys_.reset(Key::Twin);
  admitted_.clear();
  if (is_blocked()) return {};
  shown_ = keys_.peek(Key::Asked, quotas_);
  return shown_ == fresh_ ? "" : "a reset left something";
}

void QuotaHistory::block(Duration duration) {
  story_ += "block for " + std::to_string(duration.count()) + "\n";
  keys_.block(Key::Asked, duration);
  keys_.block(Key::Twin, duration);
  blocked_until_ = now_ + duration;
}

std::string QuotaHistory::compare_keys() {
  shown_ = keys_.peek(Key::Asked, quotas_);
  const std::vector<Decision> twin = keys_.peek(Key::Twin, quotas_);
  if (shown_ == twin) return {};
  std::string problem = "a denial, a peek or the quota of a refund mattered:\n";
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    problem += to_string(quotas_[i]) + ": " + text_of(shown_[i]) + ", without them " +
               text_of(twin[i]) + "\n";
  }
  return problem;
}

std::uint64_t QuotaHistory::used() const {
  return quotas_[widest_].capacity() - shown_[widest_].remaining();
}

std::string QuotaHistory::envelope() const {
  const std::string problem = quotas_.front().is_bucket() ? bucket_envelope() : window_envelope();
  return problem.empty() ? problem : problem + "\n" + story_;
}

// For all i <= j: cost_i + ... + cost_j <= burst + rate * (t_j - t_i), with the largest burst and
// the largest rate of the quotas. A running minimum, with all terms multiplied by the period.
std::string QuotaHistory::bucket_envelope() const {
  const auto fastest =
      std::max_element(quotas_.begin(), quotas_.end(), [](const Quota& a, const Quota& b) {
        return static_cast<base::Wide>(a.limit()) * static_cast<base::Wide>(b.period().count()) <
               static_cast<base::Wide>(b.limit()) * static_cast<base::Wide>(a.period().count());
      });
  __extension__ using Signed = __int128;
  const Signed period = fastest->period().count();
  const Signed burst = quotas_[widest_].capacity();
  Signed sum = 0;
  std::optional<Signed> least;
  for (const Admitted& one : admitted_) {
    const Signed refilled =
        static_cast<Signed>((one.at - admitted_.front().at).count()) * fastest->limit();
    const Signed before = sum * period - refilled;
    least = least ? std::min(*least, before) : before;
    sum += static_cast<Signed>(one.cost);
    if (sum * period - refilled > burst * period + *least) return "beyond the loosest envelope";
  }
  return {};
}

std::string QuotaHistory::window_envelope() const {
  for (std::size_t i = 0; i < admitted_.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::size_t j = i; j < admitted_.size() && admitted_[j].at < admitted_[i].counts_until;
         ++j) {
      sum += admitted_[j].cost;
    }
    if (sum > quotas_[widest_].capacity()) return "beyond the largest limit before a window ended";
  }
  return {};
}

}  // namespace penstock::reference
