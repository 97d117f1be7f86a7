#include "telemetry/rule_activity.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace penstock::telemetry {
namespace {

// 0 when the counter was reset.
std::uint32_t increase(std::uint64_t now, std::uint64_t before) {
  const std::uint64_t more = now > before ? now - before : 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(more, std::numeric_limits<std::uint32_t>::max()));
}

template <class Ring>
double rate(const Ring& ring) {
  return static_cast<double>(std::accumulate(ring.begin(), ring.end(), std::uint64_t{0})) /
         static_cast<double>(ring.size());
}

}  // namespace

RuleActivity::Series* RuleActivity::series_of(std::string_view rule, const RuleTotals& totals) {
  if (const auto known = rules_.find(rule); known != rules_.end()) return &known->second;
  if (rules_.size() >= kMaxRules) {
    const auto idle = std::min_element(rules_.begin(), rules_.end(), [](auto& a, auto& b) {
      return a.second.active_at < b.second.active_at;
    });
    if (idle->second.active_at + RuleRecent::kSeconds > samples_) return nullptr;
    rules_.erase(idle);
  }
  Series& added = rules_.emplace(rule.substr(0, kMaxNameBytes), Series{}).first->second;
  // What it did before the first sample of all is no increase.
  if (samples_ == 1) added.totals = totals;
  return &added;
}

void RuleActivity::sample(const base::TextMap<RuleTotals>& totals) {
  ++samples_;
  const std::size_t second = samples_ % RuleRecent::kSeconds;
  const std::size_t rate_second = samples_ % kRateSeconds;
  for (auto& [rule, series] : rules_) {
    series.denied[second] = 0;
    series.admitted[rate_second] = series.shadow_denied[rate_second] = 0;
  }
  for (const auto& [rule, now] : totals) {
    Series* const series = series_of(rule, now);
    if (series == nullptr) continue;
    series->denied[second] = increase(now.denied, series->totals.denied);
    series->admitted[rate_second] = increase(now.admitted, series->totals.admitted);
    series->shadow_denied[rate_second] = increase(now.shadow_denied, series->totals.shadow_denied);
    const bool is_active = series->denied[second] + series->admitted[rate_second] +
                               series->shadow_denied[rate_second] >
                           0;
    if (is_active) series->active_at = samples_;
    series->totals = now;
  }
}

std::vector<RuleRecent> RuleActivity::recent() const {
  std::vector<RuleRecent> all;
  all.reserve(rules_.size());
  const std::size_t oldest = (samples_ + 1) % RuleRecent::kSeconds;
  for (const auto& [rule, series] : rules_) {
    RuleRecent& each =
        all.emplace_back(RuleRecent{.rule = rule,
                                    .admitted_per_s = rate(series.admitted),
                                    .shadow_denied_per_s = rate(series.shadow_denied)});
    std::rotate_copy(series.denied.begin(),
                     series.denied.begin() + static_cast<std::ptrdiff_t>(oldest),
                     series.denied.end(), each.denied.begin());
    each.denied_per_s = static_cast<double>(std::accumulate(each.denied.end() - kRateSeconds,
                                                            each.denied.end(), std::uint64_t{0})) /
                        kRateSeconds;
  }
  return all;
}

}  // namespace penstock::telemetry
