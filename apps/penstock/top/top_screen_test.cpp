#include "apps/penstock/top/top_screen.hpp"

#include "apps/penstock/terminal/styled_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::app {
namespace {

using namespace std::chrono_literals;

TopScreen example() {
  return {
      .url = "http://127.0.0.1:9090",
      .top = {.by = "requests",
              .rows = {{.rule = "api/search", .subject = "user=7", .requests = 300, .denied = 90},
                       {.rule = "", .subject = "alice", .requests = 150, .denied = 0}}},
      .totals = {.requests = 2000, .denied = 100},
      .rates = RequestRates{.requests_tenths = 305, .denied_tenths = 61}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char letter : text) {
    if (letter == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += letter;
    }
  }
  return lines;
}

TEST(TopTotals, SumRequestsOfEveryReason) {
  const auto totals = read_totals({.status = 200, .body = R"(# TYPE penstock_requests_total counter
penstock_requests_total{reason="over_limit",domain="api"} 4
penstock_requests_total{reason="within_limits",domain="api"} 10
penstock_requests_total{reason="deny_listed",domain="web"} 1
penstock_decisions_total{domain="api",outcome="denied",rule="api/a"} 7
)"});
  ASSERT_TRUE(totals);
  EXPECT_EQ(totals->requests, 15U);
  EXPECT_EQ(totals->denied, 5U);
}

TEST(TopTotals, MalformedMetricsAreAnError) {
  EXPECT_FALSE(read_totals({.status = 500, .body = ""}));
  EXPECT_FALSE(read_totals({.status = 200, .body = "penstock_requests_total{reason=\"x\"} y\n"}));
}

TEST(TopRates, AreDifferencesPerSecond) {
  const RequestRates rates =
      rates_between({.requests = 100, .denied = 10}, {.requests = 150, .denied = 13}, 2s);
  EXPECT_EQ(rates.requests_tenths, 250U);
  EXPECT_EQ(rates.denied_tenths, 15U);
}

TEST(TopRates, ADaemonThatWasRestartedCountsFromZero) {
  EXPECT_EQ(rates_between({.requests = 100}, {.requests = 5}, 1s).requests_tenths, 50U);
}

TEST(TopOrderOfRows, IsByRequestsDenialsOrTheirShare) {
  Top top{.by = "requests",
          .rows = {{.subject = "a", .requests = 100, .denied = 10},
                   {.subject = "b", .requests = 10, .denied = 9},
                   {.subject = "c", .requests = 90, .denied = 20}}};
  const auto order = [&](TopOrder by) {
    sort_rows(top, by);
    return top.rows[0].subject + top.rows[1].subject + top.rows[2].subject;
  };
  EXPECT_EQ(order(TopOrder::Requests), "acb");
  EXPECT_EQ(order(TopOrder::Denied), "cab");
  EXPECT_EQ(order(TopOrder::DeniedShare), "bca");
}

TEST(TopScreenText, HasTotalsRatesSharesAndBars) {
  const std::vector<std::string> lines = lines_of(draw_top(example(), {8, 100}, Colour::Never));
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[0], "penstock top  http://127.0.0.1:9090");
  EXPECT_EQ(lines[1], "requests  2000  30.5/s     denied  100  6.1/s  5.0 %");
  EXPECT_EQ(lines[3],
            " requests    ~/s  denied    share                        rule        subject");
  EXPECT_EQ(lines[4],
            "      300   20.0      90   30.0 %  ██████████████▒▒▒▒▒▒  api/search  user=7");
  EXPECT_EQ(lines[5], "      150   10.0       0    0.0 %  ██████████            (request)   alice");
  EXPECT_EQ(lines[7], "r requests   d denied   s denied share   q quit");
}

TEST(TopScreenText, ShortensTheBarBeforeTheSubject) {
  TopScreen screen = example();
  screen.top.rows[0].subject = "client_ip=203.0.113.17";
  const auto row_of = [&](std::size_t width) {
    return lines_of(draw_top(screen, {8, width}, Colour::Never))[4];
  };
  EXPECT_EQ(row_of(100),
            "      300   20.0      90   30.0 %  ██████████████▒▒▒▒▒▒  api/search  "
            "client_ip=203.0.113.17");
  EXPECT_EQ(row_of(80),
            "      300   20.0      90   30.0 %  ██████▒▒▒  api/search  client_ip=203.0.113.17");
  EXPECT_EQ(row_of(74), "      300   20.0      90   30.0 %  api/search  client_ip=203.0.113.17");
}

TEST(TopScreenText, FillsTheScreenAndNeverExceedsIt) {
  for (const std::size_t rows : {1U, 2U, 5U, 6U, 24U}) {
    for (const std::size_t width : {1U, 20U, 57U, 80U, 200U}) {
      const auto lines = lines_of(draw_top(example(), {rows, width}, Colour::Never));
      EXPECT_EQ(lines.size(), rows);
      for (const std::string& line : lines) EXPECT_LE(columns(line), width) << line;
    }
  }
}

TEST(TopScreenText, ShowsAnErrorInsteadOfTotals) {
  TopScreen screen = example();
  screen.error = "http://127.0.0.1:9090: Connection refused";
  EXPECT_EQ(lines_of(draw_top(screen, {8, 100}, Colour::Never))[1], screen.error);
}

TEST(TopScreenText, ShowsThatThereAreNoRequests) {
  const auto lines = lines_of(draw_top({.url = "u"}, {8, 100}, Colour::Never));
  EXPECT_EQ(lines[1], "requests  0     denied  0  0.0 %");
  EXPECT_EQ(lines[4], "No recent requests.");
  const TopScreen denials{.url = "u", .top = {.by = "denied"}, .order = TopOrder::Denied};
  EXPECT_EQ(lines_of(draw_top(denials, {8, 100}, Colour::Never))[4], "No recent denials.");
}

TEST(TopScreenText, HasColoursOnlyIfWanted) {
  EXPECT_EQ(draw_top(example(), {8, 100}, Colour::Never).find('\x1b'), std::string::npos);
  EXPECT_NE(draw_top(example(), {8, 100}, Colour::Always).find("\x1b[0;32m█"), std::string::npos);
}

}  // namespace
}  // namespace penstock::app
