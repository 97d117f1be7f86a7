#include "apps/penstock/top/top_screen.hpp"

#include "apps/command_line/arguments.hpp"
#include "apps/penstock/terminal/styled_line.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::app {
namespace {

constexpr std::string_view kSeries = "penstock_requests_total{";
// Reasons of requests that are denied for certain; local fallback may do either.
constexpr std::array<std::string_view, 5> kDenials{"over_limit", "deny_listed", "failed_closed",
                                                   "missing_attribute", "unknown_domain"};
// A key with r requests per second has a count between 10 r and 20 r (telemetry/hot_keys.hpp).
constexpr std::uint64_t kCountPerRate = 15;

constexpr std::size_t kMaxBarWidth = 20;
constexpr std::size_t kMinBarWidth = 4;  // a shorter one is left out
constexpr std::size_t kBarColumn = 35;
constexpr std::size_t kMaxRuleWidth = 30;
constexpr std::size_t kMaxSubjectWidth = 40;  // a longer one does not shorten the bar

// Where the parts of a row are.
struct Layout {
  std::size_t bar_width = 0;
  std::size_t rule_width = 0;

  [[nodiscard]] std::size_t rule_column() const {
    return bar_width == 0 ? kBarColumn : kBarColumn + bar_width + 2;
  }
  [[nodiscard]] std::size_t subject_column() const { return rule_column() + rule_width + 2; }
};

bool is_denial(std::string_view labels) {
  return std::any_of(kDenials.begin(), kDenials.end(), [&](std::string_view reason) {
    return labels.find("reason=\"" + std::string(reason) + "\"") != std::string_view::npos;
  });
}

std::string tenths_text(std::uint64_t tenths) {
  if (tenths >= 1000) return std::to_string(tenths / 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::uint64_t per_mille(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : part * 1000 / whole;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t share = per_mille(part, whole);
  return std::to_string(share / 10) + "." + std::to_string(share % 10) + " %";
}

void put_right(StyledLine& line, std::size_t end, const std::string& text,
               Style style = Style::Plain) {
  line.put(end - std::min(end, columns(text)), text, style);
}

StyledLine totals_line(const TopScreen& screen) {
  const RequestTotals& totals = screen.totals;
  const bool denies = totals.denied > 0;
  StyledLine line;
  line.append("requests  " + std::to_string(totals.requests));
  if (screen.rates) line.append("  " + tenths_text(screen.rates->requests_tenths) + "/s");
  line.append("     denied  " + std::to_string(totals.denied), denies ? Style::Bad : Style::Plain);
  if (screen.rates) line.append("  " + tenths_text(screen.rates->denied_tenths) + "/s");
  line.append("  " + share_text(totals.denied, totals.requests));
  return line;
}

StyledLine header_line(const TopScreen& screen, const Layout& layout) {
  const auto style = [&](TopOrder order) {
    return screen.order == order ? Style::Bold : Style::Faint;
  };
  StyledLine line;
  put_right(line, 9, "requests", style(TopOrder::Requests));
  put_right(line, 16, "~/s", Style::Faint);
  put_right(line, 24, "denied", style(TopOrder::Denied));
  put_right(line, 33, "share", style(TopOrder::DeniedShare));
  line.put(layout.rule_column(), "rule", Style::Faint);
  line.put(layout.subject_column(), "subject", Style::Faint);
  return line;
}

// Green for allowed, red for denied requests.
void put_bar(StyledLine& line, const Top::Row& row, std::uint64_t most, std::size_t width) {
  const std::uint64_t length = most == 0 ? 0 : (row.requests * width + most - 1) / most;
  const std::uint64_t denied =
      row.requests == 0 ? 0 : (row.denied * length + row.requests - 1) / row.requests;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(length, width); ++i) {
    const bool is_denied = i + denied >= length;
    line.put(kBarColumn + i, is_denied ? "▒" : "█", is_denied ? Style::Bad : Style::Good);
  }
}

StyledLine row_line(const Top::Row& row, std::uint64_t most, const Layout& layout) {
  StyledLine line;
  put_right(line, 9, std::to_string(row.requests));
  put_right(line, 16, tenths_text(row.requests * 10 / kCountPerRate), Style::Faint);
  put_right(line, 24, std::to_string(row.denied), row.denied > 0 ? Style::Bad : Style::Plain);
  put_right(line, 33, share_text(row.denied, row.requests));
  put_bar(line, row, most, layout.bar_width);
  line.put(layout.rule_column(), shown_rule(row).substr(0, layout.rule_width), Style::Bold);
  line.put(layout.subject_column(), shown_subject(row));
  return line;
}

StyledLine keys_line() {
  StyledLine line;
  for (const auto& [key, meaning] : {std::pair{"r", "requests"}, std::pair{"d", "denied"},
                                     std::pair{"s", "denied share"}, std::pair{"q", "quit"}}) {
    line.append(key, Style::Bold);
    line.append(" " + std::string(meaning) + "   ", Style::Faint);
  }
  return line;
}

// The bar gets what rules and subjects leave.
Layout layout_for(const Top& top, std::size_t width) {
  std::size_t rule = columns("rule");
  std::size_t subject = columns("subject");
  for (const Top::Row& row : top.rows) {
    rule = std::max(rule, columns(shown_rule(row)));
    subject = std::max(subject, columns(shown_subject(row)));
  }
  Layout layout{.rule_width = std::min(rule, kMaxRuleWidth)};
  const std::size_t others =
      kBarColumn + 2 + layout.rule_width + 2 + std::min(subject, kMaxSubjectWidth);
  const std::size_t left = width > others ? std::min(width - others, kMaxBarWidth) : 0;
  if (left >= kMinBarWidth) layout.bar_width = left;
  return layout;
}

std::vector<StyledLine> body_lines(const TopScreen& screen, std::size_t width) {
  std::vector<StyledLine> lines(2);
  lines[0].append("penstock top", Style::Bold);
  lines[0].append("  " + screen.url, Style::Faint);
  if (screen.error.empty()) {
    lines[1] = totals_line(screen);
  } else {
    lines[1].append(screen.error, Style::Bad);
  }
  lines.emplace_back();
  const Layout layout = layout_for(screen.top, width);
  lines.push_back(header_line(screen, layout));
  std::uint64_t most = 0;
  for (const Top::Row& row : screen.top.rows) most = std::max(most, row.requests);
  for (const Top::Row& row : screen.top.rows) lines.push_back(row_line(row, most, layout));
  if (screen.top.rows.empty()) lines.emplace_back().append(no_rows_text(screen.top));
  return lines;
}

}  // namespace

Result<RequestTotals> read_totals(const DaemonAnswer& answer) {
  if (answer.status != 200) return error_from(answer);
  RequestTotals totals;
  std::string_view rest = answer.body;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with(kSeries)) continue;
    const std::size_t space = line.rfind(' ');
    const Result<std::int64_t> value =
        parse_number("", line.substr(space + 1), {.max = std::numeric_limits<std::int64_t>::max()});
    if (!value) {
      return Error{ErrorCode::Protocol, "malformed metric: " + std::string(line)};
    }
    const auto count = static_cast<std::uint64_t>(*value);
    totals.requests += count;
    if (is_denial(line.substr(0, space))) totals.denied += count;
  }
  return totals;
}

RequestRates rates_between(const RequestTotals& before, const RequestTotals& after,
                           Duration elapsed) {
  const auto microseconds = static_cast<std::uint64_t>(std::max(elapsed, Duration{1}).count());
  const auto rate = [&](std::uint64_t from, std::uint64_t to) {
    return (to < from ? to : to - from) * 10'000'000 / microseconds;
  };
  return {.requests_tenths = rate(before.requests, after.requests),
          .denied_tenths = rate(before.denied, after.denied)};
}

void sort_rows(Top& top, TopOrder order) {
  const auto value = [&](const Top::Row& row) {
    switch (order) {
      case TopOrder::Requests: return row.requests;
      case TopOrder::Denied: return row.denied;
      case TopOrder::DeniedShare: return per_mille(row.denied, row.requests);
    }
    return row.requests;
  };
  std::stable_sort(top.rows.begin(), top.rows.end(),
                   [&](const Top::Row& a, const Top::Row& b) { return value(a) > value(b); });
}

std::string draw_top(const TopScreen& screen, ScreenSize size, Colour colour) {
  std::vector<StyledLine> lines = body_lines(screen, size.columns);
  lines.resize(size.rows > 0 ? size.rows - 1 : 0);  // without rows that do not fit
  lines.push_back(keys_line());
  std::string text;
  for (StyledLine& line : lines) {
    line.truncate(size.columns);
    text += line.render(colour);
  }
  text.pop_back();
  return text;
}

}  // namespace penstock::app
