#include "service/near_limits.hpp"

#include "base/text_hash.hpp"
#include "core/duration_text.hpp"
#include "telemetry/metric_catalogue.hpp"

#include <algorithm>
#include <string>

namespace penstock::service {
namespace {

// The same in all workers of this process.
std::uint64_t hash_of(const core::LimitKey& name) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;  // 2^64 over the golden ratio
  const base::TextHash hash;
  return hash(name.subject) * kOdd ^ hash(name.limit);
}

std::uint32_t units_used(const Decision& decision) {
  return decision.limit() - std::min(decision.remaining(), decision.limit());
}

}  // namespace

bool is_near_limit(const Decision& decision, rules::BasisPoints share) noexcept {
  // a block says nothing about usage
  if (decision.limit() == 0 || decision.outcome() == Outcome::Blocked) return false;
  return std::uint64_t{units_used(decision)} * rules::kWhole >=
         std::uint64_t{decision.limit()} * share;
}

bool NearLimitTable::add(std::uint64_t subject, Instant now, Instant until) {
  if (entries_.empty()) entries_.resize(kSubjects);
  const std::size_t first = subject % (kSubjects / kWays) * kWays;
  Entry* victim = &entries_[first];
  for (std::size_t i = first; i < first + kWays; ++i) {
    Entry& entry = entries_[i];
    if (entry.subject == subject && now < entry.until) return false;
    if (entry.until < victim->until) victim = &entry;
  }
  *victim = {.subject = subject, .until = until};
  return true;
}

NearLimits::NearLimits(telemetry::WorkerMetrics& metrics, telemetry::Log& log,
                       SharedNearLimits& shared, const Clock& log_clock)
    : metrics_(metrics),
      log_(log, log_clock, metrics.cell(telemetry::metrics::kLogLinesSuppressed)),
      shared_(shared) {}

void NearLimits::on_decision(const LimitAnswer& limit, const Clock& clock) {
  const Decision& decision = *limit.decision;
  const rules::Rule& rule = *limit.matched.rule;
  if (!is_near_limit(decision, rule.near_limit)) return;
  const core::LimitKey& name = limit.matched.check.name;
  const std::uint64_t subject = hash_of(name);
  const Instant now = clock.now();
  const Instant until = now + decision.reset_after();
  if (!table_.add(subject, now, until) || !shared_.add(subject, now, until)) return;
  metrics_.cell(telemetry::metrics::kNearLimit, {rule.domain, rule.metric}).add();
  log_.write(telemetry::LogLevel::Info, "a subject is near its limit",
             {{"rule", name.limit},
              {"subject", name.subject},
              {"used", std::to_string(units_used(decision))},
              {"limit", std::to_string(decision.limit())},
              {"reset_after", core::rounded_up_text(decision.reset_after())}});
}

}  // namespace penstock::service
