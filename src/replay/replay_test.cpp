#include "replay/replay.hpp"

#include "replay/input/text_source.hpp"
#include "replay/report/report.hpp"
#include "replay/report/report_text.hpp"
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace penstock::replay {
namespace {

std::shared_ptr<const rules::Ruleset> rules_of(const std::string& domain) {
  rules::Loaded loaded = rules::load_text("domains: {web: {" + domain + "}}", "p.yaml");
  for (const rules::Diagnostic& diagnostic : loaded.diagnostics) {
    if (diagnostic.severity == rules::Diagnostic::Severity::Error) {
      ADD_FAILURE() << to_string(diagnostic);
    }
  }
  return loaded.configuration ? loaded.configuration->rules : std::make_shared<rules::Ruleset>();
}

const std::string kPerClient =
    "rules: [{name: r, key: [client_ip], limit: 2/m, algorithm: fixed_window}]";

// A line of the combined format, this many seconds after midnight.
std::string line_at(int second, const std::string& client, const std::string& path = "/") {
  const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return client + " - - [10/Oct/2026:" + two(second / 3600) + ":" + two(second / 60 % 60) + ":" +
         two(second % 60) + " +0000] \"GET " + path + " HTTP/1.1\" 200 1 \"-\" \"-\"\n";
}

// A text in one portion, and then an error.
class TruncatedSource final : public ByteSource {
 public:
  explicit TruncatedSource(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override {
    const std::string text = std::exchange(text_, {});
    if (text.empty()) return Error{ErrorCode::InvalidInput, "truncated"};
    EXPECT_LE(text.size(), into.size());
    std::copy(text.begin(), text.end(), into.begin());
    return text.size();
  }

 private:
  std::string text_;
};

struct ReplayRun {
  explicit ReplayRun(const std::string& domain, const std::vector<std::string>& logs,
                     ReplayOptions options = {},
                     std::shared_ptr<const rules::Ruleset> against = nullptr)
      : replay(with_domain(std::move(options)), rules_of(domain), std::move(against)) {
    replay.observe([this](const RequestOrder& order, const rules::Request& request,
                          const service::Answer& answer) {
      decisions += std::to_string(order.time.time_since_epoch() / std::chrono::seconds{1} % 86400);
      for (const rules::Attribute& one : request.descriptors.front().entries) {
        if (one.name == "client_ip") decisions.append(":").append(one.value);
      }
      decisions += answer.allowed ? " " : "! ";
    });
    for (std::size_t i = 0; i < logs.size(); ++i) {
      names.push_back("log" + std::to_string(i));
      const Result<void> added = replay.add(names.back(), std::make_unique<TextSource>(logs[i]));
      if (!added) error = added.error().detail;
    }
    const Result<void> ran = replay.run();
    if (!ran) error = ran.error().detail;
  }
  static ReplayOptions with_domain(ReplayOptions options) {
    options.domain = "web";
    return options;
  }

  std::string decisions;
  std::string error;
  std::vector<std::string> names;
  Replay replay;
};

TEST(Replay, DecidesInTheTimeOfTheLog) {
  const ReplayRun run(kPerClient, {line_at(0, "a") + line_at(1, "a") + line_at(2, "a") +
                                   line_at(3, "b") + line_at(60, "a")});
  EXPECT_EQ(run.decisions, "0:a 1:a 2:a! 3:b 60:a ");
  EXPECT_EQ(run.replay.statistics().totals().denied, 1U);
  EXPECT_EQ(run.replay.lines().requests, 5U);
}

TEST(Replay, MergesLogsByTime) {
  const ReplayRun run(kPerClient, {line_at(1, "a") + line_at(40, "a") + line_at(80, "a"),
                                   line_at(0, "b") + line_at(40, "b") + line_at(41, "b"), ""});
  EXPECT_EQ(run.decisions, "0:b 1:a 40:a 40:b 41:b! 80:a ");
}

TEST(Replay, SortsLinesWithinTheWindowAndCountsLaterOnes) {
  const std::string log = line_at(20, "a") + line_at(11, "b") + line_at(100, "a") +
                          line_at(50, "c") + line_at(101, "a");
  const ReplayRun run(kPerClient, {log}, {.window = std::chrono::seconds{10}});
  EXPECT_EQ(run.decisions, "11:b 20:a 50:c 100:a 101:a ");  // one batch of lines
  std::string long_log = line_at(20, "a") + line_at(11, "b");
  for (int i = 0; i < 600; ++i) long_log += line_at(100, "x" + std::to_string(i), "/y");
  long_log += line_at(50, "late") + line_at(101, "a");
  const ReplayRun late(kPerClient, {long_log}, {.window = std::chrono::seconds{10}});
  EXPECT_EQ(late.replay.lines().late, 0U);  // nothing after second 20 is decided yet
  EXPECT_EQ(late.decisions.substr(0, 20), "11:b 20:a 50:late 10");
  long_log = line_at(20, "a");
  for (int i = 0; i < 600; ++i) long_log += line_at(100, "x" + std::to_string(i));
  long_log += line_at(5, "late");
  const ReplayRun too_late(kPerClient, {long_log}, {.window = std::chrono::seconds{10}});
  EXPECT_EQ(too_late.replay.lines().late, 1U);
  EXPECT_EQ(too_late.decisions.substr(0, 13), "20:a 20:late ");
}

// The same line on another day: "11/Oct/2026", "10/Oct/2199".
std::string on_day(std::string line, const std::string& day) {
  return line.replace(line.find("10/Oct/2026"), day.size(), day);
}

TEST(Replay, SkipsALineWithATimeFarAhead) {
  std::string first = line_at(0, "a");
  for (int i = 1; i < 600; ++i) first += line_at(i, "x" + std::to_string(i));
  first.insert(first.find('\n') + 1, on_day(line_at(1, "ahead"), "10/Oct/2199"));
  const std::string second = line_at(1, "b") + line_at(700, "b");
  const ReplayRun run(kPerClient, {first, second});
  EXPECT_EQ(run.replay.lines().late, 0U);
  EXPECT_EQ(run.replay.lines().requests, 602U);
  EXPECT_EQ(run.replay.lines().malformed, 1U);
  ASSERT_EQ(run.replay.bad_lines().size(), 1U);
  EXPECT_EQ(run.replay.bad_lines()[0].line, 2U);
  EXPECT_EQ(run.replay.bad_lines()[0].reason, "the time is more than a day after the next line");
  EXPECT_EQ(run.decisions.substr(0, 14), "0:a 1:x1 1:b 2");
  // as the first line of a log
  const std::string ahead = on_day(line_at(0, "ahead"), "10/Oct/2199");
  const ReplayRun start(kPerClient, {ahead + line_at(1, "a") + line_at(2, "a"), line_at(0, "b")});
  EXPECT_EQ(start.decisions, "0:b 1:a 2:a ");
  EXPECT_EQ(start.replay.lines().malformed, 1U);
}

TEST(Replay, KeepsLinesAfterAPauseOfDays) {
  const std::string log = line_at(0, "a") + on_day(line_at(5, "a"), "12/Oct/2026") +
                          on_day(line_at(4, "b"), "12/Oct/2026") +
                          on_day(line_at(6, "a"), "15/Oct/2026") +
                          on_day(line_at(7, "a"), "18/Oct/2026");
  const ReplayRun run(kPerClient, {log});
  EXPECT_EQ(run.decisions, "0:a 4:b 5:a 6:a 7:a ");
  EXPECT_EQ(run.replay.lines().malformed, 0U);
}

TEST(Replay, ReadsOnAfterSeveralLinesWithATimeFarAhead) {
  const std::string ahead = on_day(line_at(0, "ahead"), "10/Oct/2199");
  std::string first = line_at(0, "a") + ahead + ahead;
  for (int i = 1; i < 1200; ++i) first += line_at(i, "x" + std::to_string(i));
  std::string second;
  for (int i = 0; i < 1200; ++i) second += line_at(i, "y" + std::to_string(i));
  const ReplayRun run(kPerClient, {first, second});
  EXPECT_EQ(run.replay.lines().late, 0U);
  EXPECT_EQ(run.replay.lines().requests, 2402U);
}

TEST(Replay, BoundsTheRequestsThatWait) {
  std::string log;
  for (int i = 0; i < 2000; ++i) log += line_at(i / 100, "c" + std::to_string(i));
  const ReplayRun run(kPerClient, {log},
                      {.window = std::chrono::hours{1}, .max_waiting_bytes = 10'000});
  EXPECT_EQ(run.replay.lines().requests, 2000U);
  EXPECT_EQ(run.replay.lines().late, 0U);
}

TEST(Replay, CountsAndShowsBadLinesWithTheirPlace) {
  const ReplayRun run(kPerClient, {line_at(0, "a") + "garbage\n\n" + line_at(1, "a", "/../x") +
                                   std::string((1U << 20U) + 5, 'x') + "\n" +
                                   std::string("\0\xff\n", 3) + line_at(2, "a")});
  EXPECT_EQ(run.decisions, "0:a 2:a ");
  EXPECT_EQ(run.replay.lines().malformed, 3U);
  EXPECT_EQ(run.replay.lines().other, 1U);
  EXPECT_EQ(run.replay.lines().rejected, 1U);
  ASSERT_EQ(run.replay.bad_lines().size(), 3U);
  EXPECT_EQ(run.replay.bad_lines()[0].line, 2U);
  EXPECT_EQ(run.replay.bad_lines()[0].file, "log0");
  EXPECT_EQ(run.replay.bad_lines()[1].reason, "longer than 1 MiB");
  EXPECT_EQ(run.replay.bad_lines()[1].line, 5U);
}

TEST(Replay, NamesTheFileOfAnError) {
  EXPECT_EQ(ReplayRun(kPerClient, {"garbage\n"}).error,
            "log0: the first lines are in no known format; use --format and --map");
  EXPECT_EQ(ReplayRun(kPerClient, {line_at(0, "a"), "\x1f\x8b garbage"}).error,
            "log1: gzip: the compressed data is damaged");
  Replay replay(ReplayRun::with_domain({}), rules_of(kPerClient), nullptr);
  std::string log;
  for (int i = 0; i < 600; ++i) log += line_at(i, "a");
  ASSERT_TRUE(replay.add("log0", std::make_unique<TextSource>(log)));
  ASSERT_TRUE(replay.add("log1", std::make_unique<TruncatedSource>(log)));
  EXPECT_EQ(replay.run().error().detail, "log1, after line 600: truncated");
}

TEST(Replay, WarnsOfAttributesThatNoRequestHas) {
  const ReplayRun run(
      "rules: [{name: keyed, key: [header.x-api-key], limit: 1/s}, {name: r, key: [client_ip], "
      "limit: 1/s}]",
      {line_at(0, "a")});
  EXPECT_EQ(
      run.replay.warnings(),
      std::vector<std::string>{"web/keyed uses header.x-api-key, which no request of the log has"});
}

TEST(Replay, ShowsTheDifferenceBetweenTwoSetsOfRules) {
  std::string log;
  for (int i = 0; i < 4; ++i) log += line_at(i, "a") + line_at(i, "b", "/login");
  const auto old = rules_of(
      "rules: [{name: login, when: {path: /login}, key: [client_ip], limit: 1/h, algorithm: fixed_window}]");
  const ReplayRun run("rules: [{name: r, key: [client_ip], limit: 3/m, algorithm: fixed_window}]",
                      {log}, {}, old);
  const Difference& difference = *run.replay.difference();
  EXPECT_EQ(difference.newly_denied(), 1U);      // the fourth of a; b is denied by both
  EXPECT_EQ(difference.no_longer_denied(), 2U);  // the second and third of b
  EXPECT_EQ(run.replay.statistics_against()->totals().denied, 3U);
  const Report report = make_report(run.replay, run.names, {});
  EXPECT_EQ(report.difference->newly_denied.subjects.at(0).subject, "client_ip=a");
  EXPECT_EQ(report.difference->no_longer_denied.subjects.at(0).subject, "client_ip=b");
  EXPECT_EQ(report.difference->no_longer_denied.limits.at(0).name, "web/login");
}

TEST(Replay, SuggestsLimitsFromAllRequestsDeniedOnesIncluded) {
  std::string log;
  for (int i = 0; i < 30; ++i) log += line_at(i, "a");
  for (int i = 0; i < 99; ++i) log += line_at(30, "c" + std::to_string(i));
  const ReplayRun run(kPerClient, {log}, {.peaks = RunStatistics::Peaks::Count});
  const Report report = make_report(run.replay, run.names, {});
  ASSERT_TRUE(report.suggestions);
  const ReportSuggestion& one = report.suggestions->at(0);
  EXPECT_EQ(one.subjects, 100U);
  EXPECT_EQ(one.above_present, 1U);
  EXPECT_EQ(one.limits.at(0).peak, 1U);
  EXPECT_EQ(one.limits.at(0).subjects_above, 1U);
  EXPECT_EQ(one.limits.back().peak, 30U);
  EXPECT_NE(
      text_report(report).find("100 % of subjects stay within 30/m; at 30/m 0 of 100 subjects"),
      std::string::npos);
}

TEST(Report, CountsListsShadowLimitsAndMissingAttributes) {
  const ReplayRun run(
      "deny: [{name: bad, when: {client_ip: 192.0.2.66}}], allow: [{name: ok, when: {path: /healthz}}], "
      "rules: [{name: s, shadow: true, limit: 1/h, algorithm: fixed_window}, "
      "{name: m, when: {path: /m}, key: [host], limit: 9/s, if_missing: deny}]",
      {line_at(0, "192.0.2.66") + line_at(0, "192.0.2.1", "/healthz") + line_at(1, "192.0.2.1") +
       line_at(2, "192.0.2.1") + line_at(2, "192.0.2.1", "/m")});
  const RunStatistics::Totals& totals = run.replay.statistics().totals();
  EXPECT_EQ(totals.denied, 2U);
  EXPECT_EQ(totals.deny_listed, 1U);
  EXPECT_EQ(totals.allow_listed, 1U);
  EXPECT_EQ(totals.missing_attribute, 1U);
  EXPECT_EQ(totals.shadow_denied, 1U);
  for (const ReportLimit& limit : make_report(run.replay, run.names, {}).limits) {
    EXPECT_EQ(limit.counts.requests, limit.name == "web/s" ? 2U : 1U) << limit.name;
    EXPECT_LE(limit.counts.denied, limit.counts.requests) << limit.name;
  }
}

TEST(Report, DrawsBarsWithinTheChart) {
  std::string log = line_at(0, "a");
  for (int i = 0; i < 1000; ++i) log += line_at(1, "a");
  log += line_at(1, "b", "/s") + line_at(1, "c", "/s");
  const ReplayRun run(
      "rules: [{name: r, key: [client_ip], limit: 1/h, algorithm: fixed_window}, "
      "{name: s, shadow: true, when: {path: /s}, limit: 1/h, algorithm: fixed_window}]",
      {log});
  EXPECT_EQ(run.replay.statistics().totals().denied, 1000U);
  EXPECT_EQ(run.replay.statistics().totals().shadow_denied, 1U);
  const std::string page = html_report(make_report(run.replay, run.names, {}));
  for (std::size_t at = page.find(" y=\""); at != std::string::npos; at = page.find(" y=\"", at)) {
    at += 4;
    EXPECT_LE(page.find('"', at) - at, 4U) << page.substr(at, 30);
  }
}

const std::string kHostile = "<script>alert('1')</script>";

Report hostile_report(const Redactor* redactor) {
  const ReplayRun run("rules: [{name: r, key: [user], limit: 1/h}], caller_attributes: [user]",
                      {R"({"time":1791640536,"user":")" + kHostile + "\"}\n" +
                       R"({"time":1791640537,"user":")" + kHostile + "\"}\n"},
                      {.mapping = *FieldMap::parse("user=user")});
  EXPECT_EQ(run.replay.statistics().totals().denied, 1U);
  return make_report(run.replay, run.names, {.redactor = redactor});
}

TEST(Report, EscapesSubjectsInThePage) {
  const std::string page = html_report(hostile_report(nullptr));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("user=&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"), std::string::npos);
  for (const char* loads : {"http://", "https://", "src=", "href=", "url("}) {
    EXPECT_EQ(page.find(loads), std::string::npos) << loads;
  }
}

TEST(Report, RedactsSubjectsInEveryForm) {
  const Redactor redactor("key");
  const Report report = hostile_report(&redactor);
  for (const std::string& text : {text_report(report), json_report(report), html_report(report)}) {
    EXPECT_EQ(text.find("alert"), std::string::npos);
    EXPECT_NE(text.find("user=#"), std::string::npos);
  }
}

TEST(Redactor, HashesEqualValuesEquallyUnderOneKey) {
  const Redactor redactor("key");
  EXPECT_EQ(redactor.redacted("client_ip=192.0.2.7&path=/a"),
            redactor.redacted("client_ip=192.0.2.7") + "&" + redactor.redacted("path=/a"));
  EXPECT_NE(redactor.redacted("client_ip=192.0.2.7"),
            Redactor("other").redacted("client_ip=192.0.2.7"));
  EXPECT_NE(Redactor::with_random_key().redacted("a=b"),
            Redactor::with_random_key().redacted("a=b"));
  EXPECT_EQ(redactor.redacted(""), "");
}

TEST(ReportText, WritesNumbersTimesAndShares) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(48'210), "48 210");
  EXPECT_EQ(grouped(1'234'567), "1 234 567");
  EXPECT_EQ(percent_text(1, 300), "0.33 %");
  EXPECT_EQ(percent_text(1, 1'000'000), "< 0.01 %");
  EXPECT_EQ(percent_text(3, 3), "100.00 %");
  EXPECT_EQ(time_text(Instant{std::chrono::seconds{1'791'640'536}}), "2026-10-10 13:55:36");
  EXPECT_EQ(duration_text(std::chrono::seconds{0}), "0 s");
  EXPECT_EQ(duration_text(std::chrono::seconds{125}), "2 min 5 s");
  EXPECT_EQ(duration_text(std::chrono::hours{49}), "2 d 1 h");
  EXPECT_EQ(printable("a\x1b[31m\xff\xc2\x9b\xe2\x80\xae\xc3\xa9"),
            "a\xEF\xBF\xBD[31m\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xc3\xa9");
}

}  // namespace
}  // namespace penstock::replay
