#include "replay/report/report.hpp"
#include "replay/report/report_text.hpp"

#include <algorithm>
#include <array>

namespace penstock::replay {
namespace {

constexpr std::size_t kChartColumns = 60;
constexpr std::size_t kMaxColumnWidth = 40;

// Columns of texts; the first is aligned to the left, numbers to the right.
class TextTable {
 public:
  enum class Align : std::uint8_t { Left, Right };
  explicit TextTable(std::vector<Align> aligns) : aligns_(std::move(aligns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths(aligns_.size());
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string blanks(std::min(widths[i], kMaxColumnWidth) -
                                     std::min(width(row[i]), std::min(widths[i], kMaxColumnWidth)),
                                 ' ');
        line += " ";
        line += aligns_[i] == Align::Right ? blanks + row[i] : row[i] + blanks;
        if (i + 1 < row.size()) line += ' ';
      }
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
  }

 private:
  // Characters, not bytes.
  static std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
      return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    }));
  }

  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

using Align = TextTable::Align;

std::string plural(std::uint64_t count, std::string_view noun) {
  return grouped(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string subject_or_all(const std::string& subject) {
  return subject.empty() ? "(all requests)" : printable(subject);
}

std::string lines_text(const Report& report) {
  const LineCounts& lines = report.lines;
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) text += "  " + plural(count, "line") + std::string(what) + "\n";
  };
  add(lines.malformed, " malformed, and skipped:");
  for (const BadLine& bad : report.bad_lines) {
    text += "    " + printable(bad.file) + ":" + std::to_string(bad.line) + ": " +
            std::string(bad.reason) + "\n";
  }
  add(lines.other, " without a request");
  add(lines.rejected, " with a path that the gateway rejects with 400, without a decision");
  add(lines.late, " more out of order than --window, decided at the time of the line before");
  return text;
}

std::string totals_text(const Report& report) {
  const RunStatistics::Totals& totals = report.totals;
  std::string text = plural(totals.requests, "request");
  if (totals.requests > 0) {
    text += " from " + time_text(totals.first) + " to " + time_text(totals.last) + " UTC";
  }
  text += "\n" + grouped(totals.denied) + " denied (" +
          percent_text(totals.denied, totals.requests) + ")";
  if (totals.shadow_denied > 0) {
    text += ", " + grouped(totals.shadow_denied) + " denied by shadow limits only";
  }
  text += "\n";
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) text += "  " + grouped(count) + std::string(what) + "\n";
  };
  add(totals.deny_listed, " by a deny list");
  add(totals.missing_attribute, " because an attribute is missing (if_missing: deny)");
  add(totals.allow_listed, " requests passed by an allow list");
  add(totals.without_rule, " requests without a rule that applies");
  return text;
}

std::string rules_text(const Report& report) {
  TextTable table({Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right,
                   Align::Right});
  table.add({"rule", "limit", "key", "requests", "denied", "shadow", "subjects"});
  for (const ReportLimit& limit : report.limits) {
    table.add({printable(limit.name), limit.quota.empty() ? limit.action : limit.quota,
               printable(limit.key), grouped(limit.counts.requests), grouped(limit.counts.denied),
               grouped(limit.counts.shadow_denied), grouped(limit.subjects_denied)});
  }
  return "\nBy rule\n" + table.text();
}

std::string subjects_table(const std::vector<ReportSubject>& subjects) {
  TextTable table({Align::Right, Align::Left, Align::Left, Align::Left, Align::Left, Align::Right});
  table.add({"denied", "rule", "subject", "first", "last", "longest span"});
  for (const ReportSubject& one : subjects) {
    table.add({grouped(one.denied), printable(one.limit), subject_or_all(one.subject),
               time_text(one.first), time_text(one.last), duration_text(one.longest)});
  }
  return table.text();
}

std::string bar_of(std::uint64_t value, std::uint64_t most) {
  constexpr std::array<std::string_view, 9> kLevels{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (value == 0 || most == 0) return std::string(kLevels[0]);
  // rounded up, so that a single denial is visible
  return std::string(kLevels[static_cast<std::size_t>((value * 8 + most - 1) / most)]);
}

std::string chart_line(const std::vector<Timeline::Step>& steps, std::string_view name,
                       std::uint64_t Timeline::Step::*count) {
  std::uint64_t most = 0;
  for (const Timeline::Step& step : steps) most = std::max(most, step.*count);
  std::string line = "  " + std::string(name);
  for (const Timeline::Step& step : steps) line += bar_of(step.*count, most);
  return line + "  at most " + grouped(most) + "\n";
}

std::string timeline_text(const Report& report) {
  const Timeline::Summary summary = report.timeline.summary(kChartColumns);
  std::string text = "\nWhen, " + duration_text(summary.width) + " per column, from " +
                     time_text(report.timeline.start()) + "\n";
  text += chart_line(summary.steps, "requests ", &Timeline::Step::requests);
  text += chart_line(summary.steps, "denied   ", &Timeline::Step::denied);
  if (report.totals.shadow_denied > 0) {
    text += chart_line(summary.steps, "shadow   ", &Timeline::Step::shadow_denied);
  }
  return text;
}

std::string spans_text(const DeniedSpans& spans) {
  std::string text =
      "\nHow long, denials of a subject without a pause of the period of the limit\n  ";
  text += plural(spans.spans, "span") + ", the longest " + duration_text(spans.longest) + "\n ";
  for (std::size_t i = 0; i < spans.counts.size(); ++i) {
    const bool is_last = i == DeniedSpans::kBounds.size();
    text += is_last ? " longer: " : " up to " + duration_text(DeniedSpans::kBounds[i]) + ": ";
    text += grouped(spans.counts[i]) + (is_last ? "\n" : ",");
  }
  return text;
}

std::string side_text(const ReportDifference::Side& side, std::string_view title) {
  std::string text = "  " + grouped(side.requests) + " " + std::string(title) + "\n";
  for (const ReportDifference::Limit& limit : side.limits) {
    text += "    " + grouped(limit.denied) + " by " + printable(limit.name) + ", " +
            plural(limit.subjects, "subject") + "\n";
  }
  if (!side.subjects.empty()) text += subjects_table(side.subjects);
  return text;
}

std::string suggestion_text(const ReportSuggestion& one) {
  const std::string subjects = plural(one.subjects, "subject");
  std::string text = "  " + printable(one.name) + " (" + one.quota + ", " +
                     (one.key.empty() ? "one key for all requests" : printable(one.key)) +
                     "): " + grouped(one.above_present) + " of " + subjects + " exceed it\n";
  for (const Suggestion& limit : one.limits) {
    text += "    " + per_mille_text(limit.per_mille) + " of subjects stay within " +
            rate_text(limit.peak, one.period) + "; at " + rate_text(limit.limit, one.period) + " " +
            grouped(limit.subjects_above) + " of " + subjects +
            (limit.subjects_above == 1 ? " is hit\n" : " are hit\n");
  }
  if (one.is_incomplete) text += "    more subjects than are counted; the shares are of those\n";
  return text;
}

}  // namespace

std::string text_report(const Report& report) {
  std::string text = totals_text(report) + lines_text(report);
  for (const std::string& warning : report.warnings)
    text += "  warning: " + printable(warning) + "\n";
  if (report.totals.requests == 0) return text;
  text += rules_text(report);
  if (!report.subjects.empty()) {
    text += "\nWho, " + plural(report.subjects_denied, "subject") + " denied\n" +
            subjects_table(report.subjects);
    if (report.denials_not_listed > 0) {
      text += "  " + grouped(report.denials_not_listed) + " denials of further subjects\n";
    }
  }
  text += timeline_text(report);
  if (report.spans.spans > 0) text += spans_text(report.spans);
  if (report.difference) {
    text += "\nAgainst the old rules, which deny " + grouped(report.difference->denied_before) +
            "\n" + side_text(report.difference->newly_denied, "newly denied") +
            side_text(report.difference->no_longer_denied, "no longer denied");
  }
  if (report.suggestions) {
    text += "\nSuggested limits\n";
    for (const ReportSuggestion& one : *report.suggestions) text += suggestion_text(one);
  }
  return text;
}

}  // namespace penstock::replay
