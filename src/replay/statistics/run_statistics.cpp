#include "replay/statistics/run_statistics.hpp"

namespace penstock::replay {

RunStatistics::RunStatistics(const rules::Ruleset& rules, Peaks peaks)
    : limits_(rules), counts_(limits_.size()), denials_(limits_.size()), peaks_(limits_.size()) {
  if (peaks == Peaks::Skip) return;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (const Quota* const quota = limits_[i].quota()) peaks_[i].emplace(quota->period());
  }
}

void RunStatistics::add(Instant time, const service::Answer& answer) {
  has_shadow_denial_ = false;
  count_reason(answer);
  for (const service::LimitAnswer& limit : answer.limits) {
    if (limit.matched.rule != nullptr) add_limit(time, limit);
  }
  if (const rules::Rule* const rule = deciding_rule(answer)) {
    ++counts_[limits_.number_of(*rule, 0)].requests;
  }
  if (!answer.allowed) {
    visit_denials(limits_, answer, [&](std::uint32_t limit, std::string_view subject) {
      ++counts_[limit].denied;
      denials_.deny(limit, subject, time, limits_[limit].pause());
    });
  }
  if (totals_.requests++ == 0) totals_.first = time;
  totals_.last = time;
  if (!answer.allowed) ++totals_.denied;
  if (answer.allowed && has_shadow_denial_) ++totals_.shadow_denied;
  timeline_.add(time, {.requests = 1,
                       .denied = answer.allowed ? 0U : 1U,
                       .shadow_denied = answer.allowed && has_shadow_denial_ ? 1U : 0U});
}

void RunStatistics::add_limit(Instant time, const service::LimitAnswer& limit) {
  const std::uint32_t number = limits_.number_of(*limit.matched.rule, limit.matched.limit);
  const core::NamedCheck& check = limit.matched.check;
  LimitCounts& counts = counts_[number];
  ++counts.requests;
  // not the subjects with a quota of their own
  if (peaks_[number] && check.quota == *limits_[number].quota()) {
    peaks_[number]->add(check.name.subject, check.cost.units, time);
  }
  // a shadow limit is not checked when the request is denied
  if (limit.shadow && limit.decision && !limit.decision->allowed()) {
    ++counts.shadow_denied;
    has_shadow_denial_ = true;
  }
}

void RunStatistics::count_reason(const service::Answer& answer) {
  switch (answer.reason) {
    case service::Reason::NoRule: ++totals_.without_rule; break;
    case service::Reason::AllowListed: ++totals_.allow_listed; break;
    case service::Reason::DenyListed: ++totals_.deny_listed; break;
    case service::Reason::MissingAttribute: ++totals_.missing_attribute; break;
    default: break;
  }
}

void Difference::add(Instant time, const service::Answer& now, const service::Answer& before) {
  if (now.allowed == before.allowed) return;
  if (now.allowed) {
    ++no_longer_;
    visit_denials(before_, before, [&](std::uint32_t limit, std::string_view subject) {
      no_longer_denied_.deny(limit, subject, time, before_[limit].pause());
    });
  } else {
    ++newly_;
    visit_denials(now_, now, [&](std::uint32_t limit, std::string_view subject) {
      newly_denied_.deny(limit, subject, time, now_[limit].pause());
    });
  }
}

void Difference::finish() {
  newly_denied_.finish();
  no_longer_denied_.finish();
}

}  // namespace penstock::replay
