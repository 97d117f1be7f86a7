#pragma once

#include "penstock/time.hpp"
#include "replay/statistics/denial_table.hpp"
#include "replay/statistics/limit_list.hpp"
#include "replay/statistics/peak_table.hpp"
#include "replay/statistics/timeline.hpp"
#include "service/answer.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace penstock::replay {

// The answers of one set of rules to all requests of a log.
//
// Thread-safety: none.
class RunStatistics {
 public:
  enum class Peaks : std::uint8_t { Count, Skip };

  struct LimitCounts {
    std::uint64_t requests = 0;  // that it applied to
    std::uint64_t denied = 0;
    std::uint64_t shadow_denied = 0;
  };
  struct Totals {
    std::uint64_t requests = 0;
    std::uint64_t denied = 0;
    std::uint64_t shadow_denied = 0;  // admitted, but a shadow limit denies
    std::uint64_t without_rule = 0;   // no limit applied
    std::uint64_t deny_listed = 0;
    std::uint64_t allow_listed = 0;
    std::uint64_t missing_attribute = 0;
    Instant first{};  // the time of the first request, and of the last
    Instant last{};
  };

  // REQUIRES: the rules outlive it.
  RunStatistics(const rules::Ruleset& rules, Peaks peaks);

  // REQUIRES: times never step back.
  void add(Instant time, const service::Answer& answer);
  void finish() { denials_.finish(); }

  [[nodiscard]] const LimitList& limits() const noexcept { return limits_; }
  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
  [[nodiscard]] const LimitCounts& counts(std::size_t limit) const { return counts_[limit]; }
  [[nodiscard]] const DenialTable& denials() const noexcept { return denials_; }
  [[nodiscard]] const Timeline& timeline() const noexcept { return timeline_; }
  // Empty for a rule without limits, and when peaks are not counted.
  [[nodiscard]] const std::optional<PeakTable>& peaks(std::size_t limit) const {
    return peaks_[limit];
  }

 private:
  void add_limit(Instant time, const service::LimitAnswer& limit);
  void count_reason(const service::Answer& answer);

  LimitList limits_;
  Totals totals_{};
  std::vector<LimitCounts> counts_;
  DenialTable denials_;
  Timeline timeline_;
  std::vector<std::optional<PeakTable>> peaks_;
  bool has_shadow_denial_ = false;  // of the request that is added
};

// The rule that decided the request without a limit: an entry of a list, or a rule with
// if_missing: deny. Null if there is none.
[[nodiscard]] inline const rules::Rule* deciding_rule(const service::Answer& answer) {
  return answer.match.list_entry != nullptr ? answer.match.list_entry
                                            : answer.match.missing_key_rule;
}

// Calls `visit(number of the limit, subject)` for everything that denied the request.
template <class Visit>
void visit_denials(const LimitList& limits, const service::Answer& answer, Visit visit) {
  const rules::Rule* const rule = deciding_rule(answer);
  if (rule != nullptr) return visit(limits.number_of(*rule, 0), std::string_view{});
  for (const service::LimitAnswer& limit : answer.limits) {
    if (limit.shadow || !limit.decision || limit.decision->allowed()) continue;
    if (limit.matched.rule == nullptr) continue;
    visit(limits.number_of(*limit.matched.rule, limit.matched.limit),
          std::string_view(limit.matched.check.name.subject));
  }
}

// The requests on which two sets of rules differ.
//
// Thread-safety: none.
class Difference {
 public:
  // REQUIRES: both outlive it.
  Difference(const LimitList& now, const LimitList& before)
      : now_(now), before_(before), newly_denied_(now.size()), no_longer_denied_(before.size()) {}

  void add(Instant time, const service::Answer& now, const service::Answer& before);
  void finish();

  [[nodiscard]] std::uint64_t newly_denied() const noexcept { return newly_; }
  [[nodiscard]] std::uint64_t no_longer_denied() const noexcept { return no_longer_; }
  // By the limits of the new rules, and by those of the old ones.
  [[nodiscard]] const DenialTable& newly_denied_subjects() const noexcept { return newly_denied_; }
  [[nodiscard]] const DenialTable& no_longer_denied_subjects() const noexcept {
    return no_longer_denied_;
  }

 private:
  const LimitList& now_;
  const LimitList& before_;
  std::uint64_t newly_ = 0;
  std::uint64_t no_longer_ = 0;
  DenialTable newly_denied_;
  DenialTable no_longer_denied_;
};

}  // namespace penstock::replay
