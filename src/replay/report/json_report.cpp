#include "http/json_writer.hpp"
#include "replay/report/report.hpp"
#include "replay/report/report_text.hpp"

namespace penstock::replay {
namespace {

using http::JsonWriter;

std::int64_t to_ms(Instant time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
std::int64_t to_ms(Duration duration) {
  return std::chrono::floor<std::chrono::milliseconds>(duration).count();
}

void write_lines(JsonWriter& writer, const Report& report) {
  const LineCounts& lines = report.lines;
  writer.name("lines").begin_object().name("read").number(lines.lines);
  writer.name("requests").number(lines.requests).name("malformed").number(lines.malformed);
  writer.name("without_request").number(lines.other).name("rejected").number(lines.rejected);
  writer.name("late").number(lines.late).name("shown").begin_array();
  for (const BadLine& bad : report.bad_lines) {
    writer.begin_object().name("file").text(bad.file).name("line").number(bad.line);
    writer.name("reason").text(bad.reason).end_object();
  }
  writer.end_array().end_object();
}

void write_totals(JsonWriter& writer, const RunStatistics::Totals& totals) {
  writer.name("requests").number(totals.requests).name("denied").number(totals.denied);
  writer.name("shadow_denied").number(totals.shadow_denied);
  writer.name("deny_listed").number(totals.deny_listed);
  writer.name("allow_listed").number(totals.allow_listed);
  writer.name("missing_attribute").number(totals.missing_attribute);
  writer.name("without_rule").number(totals.without_rule);
  writer.name("first_ms").number(to_ms(totals.first)).name("last_ms").number(to_ms(totals.last));
}

void write_limits(JsonWriter& writer, const std::vector<ReportLimit>& limits) {
  writer.name("rules").begin_array();
  for (const ReportLimit& limit : limits) {
    writer.begin_object().name("rule").text(limit.name).name("key").text(limit.key);
    writer.name("action").text(limit.action).name("quota").text(limit.quota);
    writer.name("shadow").boolean(limit.shadow);
    writer.name("requests").number(limit.counts.requests);
    writer.name("denied").number(limit.counts.denied);
    writer.name("shadow_denied").number(limit.counts.shadow_denied);
    writer.name("subjects_denied").number(limit.subjects_denied).end_object();
  }
  writer.end_array();
}

void write_subjects(JsonWriter& writer, const std::vector<ReportSubject>& subjects) {
  writer.name("subjects").begin_array();
  for (const ReportSubject& one : subjects) {
    writer.begin_object().name("rule").text(one.limit).name("subject").text(one.subject);
    writer.name("denied").number(one.denied).name("first_ms").number(to_ms(one.first));
    writer.name("last_ms").number(to_ms(one.last));
    writer.name("longest_span_ms").number(to_ms(one.longest)).end_object();
  }
  writer.end_array();
}

void write_timeline(JsonWriter& writer, const Timeline& timeline) {
  writer.name("timeline").begin_object().name("from_ms").number(to_ms(timeline.start()));
  writer.name("step_ms").number(to_ms(timeline.width()));
  const auto write = [&](std::string_view name, std::uint64_t Timeline::Step::*count) {
    writer.name(name).begin_array();
    for (const Timeline::Step& step : timeline.steps()) writer.number(step.*count);
    writer.end_array();
  };
  write("requests", &Timeline::Step::requests);
  write("denied", &Timeline::Step::denied);
  write("shadow_denied", &Timeline::Step::shadow_denied);
  writer.end_object();
}

void write_spans(JsonWriter& writer, const DeniedSpans& spans) {
  writer.name("denied_spans").begin_object().name("count").number(spans.spans);
  writer.name("longest_ms").number(to_ms(spans.longest)).name("up_to").begin_array();
  for (std::size_t i = 0; i < spans.counts.size(); ++i) {
    writer.begin_object().name("ms");
    i < DeniedSpans::kBounds.size() ? writer.number(to_ms(DeniedSpans::kBounds[i])) : writer.null();
    writer.name("count").number(spans.counts[i]).end_object();
  }
  writer.end_array().end_object();
}

void write_side(JsonWriter& writer, std::string_view name, const ReportDifference::Side& side) {
  writer.name(name).begin_object().name("requests").number(side.requests);
  writer.name("rules").begin_array();
  for (const ReportDifference::Limit& limit : side.limits) {
    writer.begin_object().name("rule").text(limit.name).name("denied").number(limit.denied);
    writer.name("subjects").number(limit.subjects).end_object();
  }
  writer.end_array();
  write_subjects(writer, side.subjects);
  writer.end_object();
}

void write_suggestions(JsonWriter& writer, const std::vector<ReportSuggestion>& suggestions) {
  writer.name("suggestions").begin_array();
  for (const ReportSuggestion& one : suggestions) {
    writer.begin_object().name("rule").text(one.name).name("key").text(one.key);
    writer.name("quota").text(one.quota).name("period_ms").number(to_ms(one.period));
    writer.name("subjects").number(one.subjects);
    writer.name("subjects_above").number(one.above_present);
    writer.name("incomplete").boolean(one.is_incomplete).name("limits").begin_array();
    for (const Suggestion& limit : one.limits) {
      writer.begin_object().name("per_mille").number(limit.per_mille);
      writer.name("peak").number(limit.peak).name("limit").number(limit.limit);
      writer.name("subjects_above").number(limit.subjects_above).end_object();
    }
    writer.end_array().end_object();
  }
  writer.end_array();
}

}  // namespace

std::string json_report(const Report& report) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().name("domain").text(report.domain).name("logs").begin_array();
  for (const Report::Log& log : report.logs) {
    writer.begin_object().name("file").text(log.name).name("format").text(log.format).end_object();
  }
  writer.end_array();
  write_lines(writer, report);
  write_totals(writer, report.totals);
  write_limits(writer, report.limits);
  writer.name("subjects_denied").number(report.subjects_denied);
  writer.name("denials_not_listed").number(report.denials_not_listed);
  write_subjects(writer, report.subjects);
  write_timeline(writer, report.timeline);
  write_spans(writer, report.spans);
  if (report.difference) {
    writer.name("difference").begin_object();
    writer.name("denied_before").number(report.difference->denied_before);
    write_side(writer, "newly_denied", report.difference->newly_denied);
    write_side(writer, "no_longer_denied", report.difference->no_longer_denied);
    writer.end_object();
  }
  if (report.suggestions) write_suggestions(writer, *report.suggestions);
  writer.name("warnings").begin_array();
  for (const std::string& warning : report.warnings) writer.text(warning);
  writer.end_array().end_object();
  return text;
}

}  // namespace penstock::replay
