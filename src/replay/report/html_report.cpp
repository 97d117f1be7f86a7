#include "replay/report/report.hpp"
#include "replay/report/report_text.hpp"

#include <algorithm>

namespace penstock::replay {
namespace {

// The palette of the operator's page. Nothing is loaded, and there is no script.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>penstock replay</title>
<style>
:root{--back:#fff;--text:#111;--faint:#666;--line:#ddd;--accent:#0b6bcb;--denied:#c62828;--shadow:#b26a00;--admitted:#2e7d32}
@media(prefers-color-scheme:dark){:root{--back:#14171a;--text:#e8eaed;--faint:#9aa0a6;--line:#333a40;--accent:#6cb2f7;--denied:#ef6c6c;--shadow:#e0a040;--admitted:#66bb6a}}
body{background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid var(--line);padding:.3rem .6rem;text-align:left;overflow-wrap:anywhere}
th{color:var(--faint);font-weight:500}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.denied{color:var(--denied)}.shadow{color:var(--shadow)}.faint{color:var(--faint)}.big{font-size:1.8rem;font-weight:600}
svg{width:100%;height:10rem;border-bottom:1px solid var(--line)}.a{fill:var(--admitted)}.d{fill:var(--denied)}.s{fill:var(--shadow)}
code{color:var(--accent)}
</style></head><body>
)";

constexpr std::size_t kBars = 240;
constexpr std::uint64_t kHeight = 1000;

std::string cell(std::string_view text) { return "<td>" + html_text(text) + "</td>"; }
std::string number_cell(std::uint64_t number, std::string_view extra = {}) {
  return "<td class=\"n" + std::string(number > 0 ? extra : "") + "\">" + grouped(number) + "</td>";
}
std::string header(std::initializer_list<std::string_view> names) {
  std::string row = "<table><tr>";
  for (const std::string_view name : names) row.append("<th>").append(name).append("</th>");
  return row + "</tr>\n";
}

void add_totals(std::string& out, const Report& report) {
  const RunStatistics::Totals& totals = report.totals;
  out += "<h1>penstock replay: " + html_text(report.domain) +
         "</h1>\n<p><span class=\"big denied\">" + grouped(totals.denied) + "</span> of " +
         grouped(totals.requests) + " requests denied (" +
         percent_text(totals.denied, totals.requests) + ")";
  if (totals.shadow_denied > 0) {
    out += ", <span class=\"shadow\">" + grouped(totals.shadow_denied) +
           " denied by shadow limits only</span>";
  }
  if (totals.requests > 0) {
    out += ", " + time_text(totals.first) + " to " + time_text(totals.last) + " UTC";
  }
  out += ".</p>\n<p class=\"faint\">" + grouped(report.lines.lines) + " lines, " +
         grouped(report.lines.malformed) + " malformed, " + grouped(report.lines.other) +
         " without a request, " + grouped(report.lines.rejected) + " rejected, " +
         grouped(report.lines.late) + " late.";
  for (const Report::Log& log : report.logs) {
    out += " <code>" + html_text(log.name) + "</code> " + html_text(log.format) + ".";
  }
  out += "</p>\n";
  for (const BadLine& bad : report.bad_lines) {
    out += "<p class=\"faint\">" + html_text(bad.file) + ":" + std::to_string(bad.line) + ": " +
           html_text(bad.reason) + "</p>\n";
  }
  for (const std::string& warning : report.warnings) {
    out += "<p class=\"shadow\">Warning: " + html_text(warning) + "</p>\n";
  }
}

void add_bar(std::string& out, std::string_view kind, std::size_t index, std::uint64_t base,
             std::uint64_t height) {
  // bars of a few denials are drawn higher than they are; together they must not exceed the chart
  base = std::min(base, kHeight);
  height = std::min(height, kHeight - base);
  if (height == 0) return;
  out += "<rect class=\"" + std::string(kind) + "\" x=\"" + std::to_string(index) +
         "\" width=\"1\" y=\"" + std::to_string(kHeight - base - height) + "\" height=\"" +
         std::to_string(height) + "\"/>";
}

void add_timeline(std::string& out, const Timeline& timeline) {
  const Timeline::Summary summary = timeline.summary(kBars);
  std::uint64_t most = 1;
  for (const Timeline::Step& step : summary.steps) most = std::max(most, step.requests);
  out += "<h2>When</h2><p class=\"faint\">" + duration_text(summary.width) + " per bar from " +
         time_text(timeline.start()) + ", at most " + grouped(most) + " requests; denied at the " +
         "bottom</p>\n<svg viewBox=\"0 0 " + std::to_string(summary.steps.size()) + " " +
         std::to_string(kHeight) + "\" preserveAspectRatio=\"none\" role=\"img\" " +
         "aria-label=\"requests and denials over time\">";
  for (std::size_t i = 0; i < summary.steps.size(); ++i) {
    const Timeline::Step& step = summary.steps[i];
    // a denial is visible among any number of requests
    const std::uint64_t denied =
        step.denied == 0 ? 0 : std::max<std::uint64_t>(10, step.denied * kHeight / most);
    const std::uint64_t shadow =
        step.shadow_denied == 0 ? 0
                                : std::max<std::uint64_t>(10, step.shadow_denied * kHeight / most);
    const std::uint64_t all = step.requests * kHeight / most;
    add_bar(out, "d", i, 0, denied);
    add_bar(out, "s", i, denied, shadow);
    add_bar(out, "a", i, denied + shadow, all > denied + shadow ? all - denied - shadow : 0);
  }
  out += "</svg>\n";
}

void add_limits(std::string& out, const std::vector<ReportLimit>& limits) {
  out += "<h2>By rule</h2>\n" +
         header({"rule", "limit", "key", "requests", "denied", "shadow-denied", "subjects denied"});
  for (const ReportLimit& limit : limits) {
    out += "<tr>" + cell(limit.name) + cell(limit.quota.empty() ? limit.action : limit.quota) +
           cell(limit.key) + number_cell(limit.counts.requests) +
           number_cell(limit.counts.denied, " denied") +
           number_cell(limit.counts.shadow_denied, " shadow") + number_cell(limit.subjects_denied) +
           "</tr>\n";
  }
  out += "</table>\n";
}

void add_subjects(std::string& out, const std::vector<ReportSubject>& subjects) {
  out += header({"denied", "rule", "subject", "first", "last", "longest span"});
  for (const ReportSubject& one : subjects) {
    out += "<tr>" + number_cell(one.denied, " denied") + cell(one.limit) +
           cell(one.subject.empty() ? "(all requests)" : one.subject) + cell(time_text(one.first)) +
           cell(time_text(one.last)) + cell(duration_text(one.longest)) + "</tr>\n";
  }
  out += "</table>\n";
}

void add_spans(std::string& out, const DeniedSpans& spans) {
  out +=
      "<h2>How long</h2><p class=\"faint\">Denials of a subject without a pause of the period of the " +
      std::string("limit: ") + grouped(spans.spans) + " spans, the longest " +
      duration_text(spans.longest) + ".</p>\n" + header({"up to", "spans"});
  for (std::size_t i = 0; i < spans.counts.size(); ++i) {
    const bool is_last = i == DeniedSpans::kBounds.size();
    out += "<tr>" + cell(is_last ? "longer" : duration_text(DeniedSpans::kBounds[i])) +
           number_cell(spans.counts[i]) + "</tr>\n";
  }
  out += "</table>\n";
}

void add_side(std::string& out, std::string_view title, const ReportDifference::Side& side) {
  out += "<p><b>" + grouped(side.requests) + " " + std::string(title) + "</b></p>\n";
  if (side.requests == 0) return;
  out += header({"rule", "denied", "subjects"});
  for (const ReportDifference::Limit& limit : side.limits) {
    out += "<tr>" + cell(limit.name) + number_cell(limit.denied) + number_cell(limit.subjects) +
           "</tr>\n";
  }
  out += "</table>\n";
  if (!side.subjects.empty()) add_subjects(out, side.subjects);
}

void add_suggestions(std::string& out, const std::vector<ReportSuggestion>& suggestions) {
  out += "<h2>Suggested limits</h2>\n" + header({"rule", "now", "subjects", "share of subjects",
                                                 "stay within", "suggested", "subjects hit"});
  for (const ReportSuggestion& one : suggestions) {
    for (const Suggestion& limit : one.limits) {
      out += "<tr>" + cell(one.name) + cell(one.quota) + number_cell(one.subjects) +
             cell(per_mille_text(limit.per_mille)) + cell(rate_text(limit.peak, one.period)) +
             cell(rate_text(limit.limit, one.period)) + number_cell(limit.subjects_above) +
             "</tr>\n";
    }
  }
  out += "</table>\n";
}

}  // namespace

std::string html_report(const Report& report) {
  std::string out(kHead);
  add_totals(out, report);
  if (report.totals.requests > 0) add_timeline(out, report.timeline);
  add_limits(out, report.limits);
  if (!report.subjects.empty()) {
    out += "<h2>Who</h2><p class=\"faint\">" + grouped(report.subjects_denied) +
           " subjects denied.</p>\n";
    add_subjects(out, report.subjects);
  }
  if (report.spans.spans > 0) add_spans(out, report.spans);
  if (report.difference) {
    out += "<h2>Against the old rules</h2><p class=\"faint\">The old rules deny " +
           grouped(report.difference->denied_before) + " requests.</p>\n";
    add_side(out, "newly denied", report.difference->newly_denied);
    add_side(out, "no longer denied", report.difference->no_longer_denied);
  }
  if (report.suggestions) add_suggestions(out, *report.suggestions);
  return out + "</body></html>\n";
}

}  // namespace penstock::replay
