#include "replay/report/report.hpp"

namespace penstock::replay {
namespace {

std::string_view action_text(rules::Action action) {
  switch (action) {
    case rules::Action::Limit: return "limit";
    case rules::Action::Unlimited: return "unlimited";
    case rules::Action::Allow: return "allow";
    case rules::Action::Deny: return "deny";
  }
  return "unknown";
}

std::vector<ReportLimit> limits_of(const RunStatistics& statistics, const std::string& domain) {
  std::vector<ReportLimit> limits;
  const LimitList& list = statistics.limits();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const LimitList::Entry& entry = list[i];
    if (entry.rule->domain != domain) continue;
    const Quota* const quota = entry.quota();
    limits.push_back({.name = entry.name,
                      .key = key_text(*entry.rule),
                      .quota = quota == nullptr ? std::string() : to_string(*quota),
                      .action = std::string(action_text(entry.rule->action)),
                      .shadow = entry.rule->shadow,
                      .counts = statistics.counts(i),
                      .subjects_denied = statistics.denials().subjects_of(i)});
  }
  return limits;
}

std::vector<ReportSubject> subjects_of(const DenialTable& denials, const LimitList& limits,
                                       const ReportOptions& options) {
  std::vector<ReportSubject> subjects;
  for (const DenialTable::Subject& one : denials.top(options.top)) {
    subjects.push_back({.limit = limits[one.limit].name,
                        .subject = options.redactor == nullptr
                                       ? std::string(one.text)
                                       : options.redactor->redacted(one.text),
                        .denied = one.denied,
                        .first = one.first,
                        .last = one.last,
                        .longest = one.longest});
  }
  return subjects;
}

ReportDifference::Side side_of(const DenialTable& denials, const LimitList& limits,
                               std::uint64_t requests, const ReportOptions& options) {
  ReportDifference::Side side{.requests = requests};
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (denials.denied_by(i) == 0) continue;
    side.limits.push_back({.name = limits[i].name,
                           .denied = denials.denied_by(i),
                           .subjects = denials.subjects_of(i)});
  }
  side.subjects = subjects_of(denials, limits, options);
  return side;
}

std::vector<ReportSuggestion> suggestions_of(const RunStatistics& statistics,
                                             const std::string& domain) {
  std::vector<ReportSuggestion> suggestions;
  const LimitList& list = statistics.limits();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::optional<PeakTable>& peaks = statistics.peaks(i);
    const Quota* const quota = list[i].quota();
    if (!peaks || quota == nullptr || list[i].rule->domain != domain) continue;
    if (peaks->subjects() == 0) continue;
    const std::vector<std::uint64_t> sorted = peaks->sorted_peaks();
    suggestions.push_back({.name = list[i].name,
                           .key = key_text(*list[i].rule),
                           .quota = to_string(*quota),
                           .period = quota->period(),
                           .subjects = sorted.size(),
                           .above_present = count_above(sorted, quota->limit()),
                           .is_incomplete = peaks->is_incomplete(),
                           .limits = suggest_limits(sorted)});
  }
  return suggestions;
}

}  // namespace

Report make_report(const Replay& replay, const std::vector<std::string>& logs,
                   const ReportOptions& options) {
  const RunStatistics& statistics = replay.statistics();
  const std::vector<std::string> formats = replay.formats();
  Report report{.domain = replay.options().domain,
                .lines = replay.lines(),
                .bad_lines = replay.bad_lines(),
                .totals = statistics.totals(),
                .limits = limits_of(statistics, replay.options().domain),
                .subjects = subjects_of(statistics.denials(), statistics.limits(), options),
                .subjects_denied = statistics.denials().subjects(),
                .denials_not_listed = statistics.denials().not_listed(),
                .spans = statistics.denials().spans(),
                .timeline = statistics.timeline(),
                .warnings = replay.warnings()};
  for (std::size_t i = 0; i < logs.size() && i < formats.size(); ++i) {
    report.logs.push_back({.name = logs[i], .format = formats[i]});
  }
  if (const Difference* const difference = replay.difference()) {
    const RunStatistics& before = *replay.statistics_against();
    report.difference = ReportDifference{
        .denied_before = before.totals().denied,
        .newly_denied = side_of(difference->newly_denied_subjects(), statistics.limits(),
                                difference->newly_denied(), options),
        .no_longer_denied = side_of(difference->no_longer_denied_subjects(), before.limits(),
                                    difference->no_longer_denied(), options)};
  }
  if (replay.options().peaks == RunStatistics::Peaks::Count) {
    report.suggestions = suggestions_of(statistics, report.domain);
  }
  return report;
}

}  // namespace penstock::replay
