#include "apps/penstock/demo/demo_picture.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

namespace penstock::app {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> draw(const QuotaSpec& spec, Colour colour) {
  std::istringstream text(draw_demo(run_demo(spec).value(), colour));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The line of this algorithm, and `more` lines after it.
std::string line_of(const std::vector<std::string>& lines, const std::string& name,
                    std::size_t after) {
  for (std::size_t i = 0; i + after < lines.size(); ++i) {
    if (lines[i].starts_with("  " + name + " ")) return lines[i + after];
  }
  return {};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(DemoPicture, ShowsEachRequestBesideTheBoundary) {
  const auto lines = draw(per(10, 10s), Colour::Never);
  EXPECT_TRUE(contains(line_of(lines, "fixed_window", 0), " ●●●●●●●●●●┃●●●●●●●●●●○    ○ "));
  EXPECT_TRUE(contains(line_of(lines, "sliding_log", 0), " ●●●●●●●●●●┃○○○○○○○○○○○    ○ "));
}

TEST(DemoPicture, NamesTheMaximumInAnyPeriod) {
  const auto lines = draw(per(10, 10s), Colour::Never);
  EXPECT_TRUE(contains(line_of(lines, "fixed_window", 1), "─ most in any 10 s: 20 (of 10) ─"));
  EXPECT_TRUE(contains(line_of(lines, "sliding_log", 1), "─ most in any 10 s: 10 (of 10) ─"));
}

TEST(DemoPicture, MarksAsManyColumnsAsAPeriodHas) {
  const std::string mark = line_of(draw(per(10, 10s), Colour::Never), "fixed_window", 1);
  const std::size_t begin = mark.find("└");
  const std::size_t end = mark.find("┘");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t boundary_inside = 1;
  EXPECT_EQ(columns(mark.substr(begin, end - begin)) + 1,
            static_cast<std::size_t>(kColumnsPerPeriod) + boundary_inside);
}

TEST(DemoPicture, WarnsInRedOnlyAboveTheLimit) {
  const std::string red = "\x1b[0;1;31m";
  const std::string green = "\x1b[0;32m";
  const std::vector<DemoRow> rows = run_demo(per(10, 10s)).value();
  for (const DemoRow& row : rows) {
    const std::string picture = draw_demo({&row, 1}, Colour::Always);
    EXPECT_EQ(contains(picture, red), row.peak.passed > 10) << to_string(row.quota.algorithm());
    EXPECT_TRUE(contains(picture, green));
  }
}

TEST(DemoPicture, HasNoEscapesWithoutColour) {
  for (const std::string& line : draw(per(10, 10s), Colour::Never)) {
    EXPECT_FALSE(contains(line, "\x1b")) << line;
  }
}

TEST(DemoPicture, EndsEveryColouredLinePlain) {
  for (const std::string& line : draw(per(10, 10s), Colour::Always)) {
    const std::size_t last_escape = line.rfind('\x1b');
    if (last_escape == std::string::npos) continue;
    EXPECT_TRUE(line.substr(last_escape).starts_with("\x1b[0m")) << line;
  }
}

TEST(DemoPicture, SharesAColumnWhenThereAreMoreRequestsThanColumns) {
  const auto lines = draw(per(100, 1min), Colour::Never);
  EXPECT_TRUE(contains(line_of(lines, "fixed_window", 0), " ●●●●●●●●●●┃●●●●●●●●●●○○○○"));
  EXPECT_TRUE(contains(line_of(lines, "sliding_counter", 0), "●┃◐"));
  EXPECT_TRUE(contains(lines[3] + lines[2], "◐ some of each"));
}

TEST(DemoPicture, FitsTheWidthForEveryLimit) {
  for (const std::int64_t limit : {1, 3, 10, 1'000}) {
    for (const Duration period : {Duration{1ms}, Duration{1001ms}, Duration{10s}, Duration{Days{1}},
                                  Duration{Days{366}}, Duration{Days{366}} - Duration{1ms}}) {
      for (const QuotaSpec& spec : {per(limit, period), per(limit, period).burst(1)}) {
        for (const std::string& line : draw(spec, Colour::Never)) {
          EXPECT_LE(columns(line), kPictureWidth) << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock::app
