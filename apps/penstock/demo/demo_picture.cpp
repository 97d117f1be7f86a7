#include "apps/penstock/demo/demo_picture.hpp"

#include "apps/penstock/demo/demo_scenario.hpp"
#include "core/duration_text.hpp"

#include <algorithm>
#include <array>

namespace penstock::app {
namespace {

// Wide enough for the name of every algorithm.
constexpr std::size_t kLeftMargin = 18;
constexpr std::size_t kIndent = 2;

constexpr std::string_view kPassed = "●";
constexpr std::string_view kDenied = "○";
constexpr std::string_view kSomeOfEach = "◐";
constexpr std::string_view kBoundary = "┃";

constexpr bool is_boundary(std::int64_t column) { return column % kColumnsPerPeriod == 0; }

// The position of a timeline column in the line. A window boundary has its own position, before the
// first column of the window.
constexpr std::size_t place(std::int64_t column) {
  std::int64_t boundaries = 0;
  for (std::int64_t c = kFirstColumn; c <= column; ++c) boundaries += is_boundary(c) ? 1 : 0;
  return kLeftMargin + static_cast<std::size_t>(column - kFirstColumn + boundaries);
}

constexpr std::size_t place_of_boundary(std::int64_t column) { return place(column) - 1; }

std::int64_t column_at(Duration at, Duration period) {
  const Duration column = period / kColumnsPerPeriod;
  return (at - kFirstColumn * column) / column + kFirstColumn;
}

struct Cell {
  std::uint64_t passed = 0;
  std::uint64_t denied = 0;
};

using Cells = std::array<Cell, static_cast<std::size_t>(kLastColumn - kFirstColumn + 1)>;

Cells cells_of(const DemoRow& row) {
  Cells cells{};
  for (const DemoRequest& request : row.requests) {
    const std::int64_t column = column_at(request.at, row.quota.period());
    Cell& cell = cells.at(static_cast<std::size_t>(column - kFirstColumn));
    ++(request.outcome == Outcome::Allowed ? cell.passed : cell.denied);
  }
  return cells;
}

bool is_mixed(const Cell& cell) { return cell.passed > 0 && cell.denied > 0; }

void put_boundaries(StyledLine& line) {
  for (std::int64_t column = kFirstColumn; column <= kLastColumn; ++column) {
    if (is_boundary(column)) line.put(place_of_boundary(column), kBoundary, Style::Faint);
  }
}

void put_total(StyledLine& line, std::string_view text) {
  line.put(kPictureWidth - columns(text), text, Style::Bold);
}

StyledLine timeline(const DemoRow& row) {
  StyledLine line;
  line.put(kIndent, to_string(row.quota.algorithm()), Style::Bold);
  put_boundaries(line);
  const Cells cells = cells_of(row);
  for (std::int64_t column = kFirstColumn; column <= kLastColumn; ++column) {
    const Cell& cell = cells.at(static_cast<std::size_t>(column - kFirstColumn));
    if (is_mixed(cell)) {
      line.put(place(column), kSomeOfEach, Style::Mixed);
    } else if (cell.passed > 0) {
      line.put(place(column), kPassed, Style::Good);
    } else if (cell.denied > 0) {
      line.put(place(column), kDenied, Style::Faint);
    }
  }
  put_total(line, std::to_string(row.passed));
  return line;
}

// └──── most in any 10 s: 20 (of 10) ────┘ under the busiest period.
StyledLine peak_mark(const DemoRow& row) {
  const Duration period = row.quota.period();
  const std::string label = " most in any " + core::exact_text(period) + ": " +
                            std::to_string(row.peak.passed) + " (of " +
                            std::to_string(row.quota.limit()) + ") ";
  const std::int64_t from = column_at(row.peak.from, period);
  const std::int64_t to = from + kColumnsPerPeriod - 1;
  const std::size_t left = place(from);
  const std::size_t right = place(std::min(to, kLastColumn));
  const Style style = row.peak.passed > row.quota.limit() ? Style::Bad : Style::Good;

  StyledLine line;
  put_boundaries(line);
  for (std::size_t at = left; at <= right; ++at) line.put(at, "─", style);
  line.put(left, "└", style);
  if (to <= kLastColumn) line.put(right, "┘", style);
  const std::size_t space = right - left + 1;
  const std::size_t centred = left + (space - std::min(space, columns(label))) / 2;
  line.put(std::min(centred, kPictureWidth - columns(label)), label, style);
  return line;
}

std::string paragraph(std::string_view text, std::size_t indent, Style style, Colour colour) {
  std::string lines;
  StyledLine line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (line.width() > indent && line.width() + 1 + columns(word) > kPictureWidth) {
      lines += line.render(colour);
      line = {};
    }
    line.put(line.width() == 0 ? indent : line.width() + 1, word, style);
  }
  return lines + line.render(colour);
}

void put_centred(StyledLine& line, std::size_t centre, std::string_view text, Style style) {
  line.put(centre - std::min(centre, columns(text) / 2), text, style);
}

std::string ruler(Duration period, Colour colour) {
  const Duration step = period * kBurstColumns / kColumnsPerPeriod;
  StyledLine acts;
  StyledLine labels;
  StyledLine ticks;
  put_centred(acts, place(-kBurstColumns / 2), "burst", Style::Plain);
  put_centred(acts, place(kBurstColumns / 2), "burst", Style::Plain);
  put_centred(acts, place(3 * kBurstColumns), "steady trickle", Style::Plain);
  for (std::size_t at = place(kFirstColumn); at <= place(kLastColumn); ++at) {
    ticks.put(at, "─", Style::Faint);
  }
  for (std::int64_t column = -kBurstColumns; column <= kLastColumn; column += kBurstColumns) {
    const std::size_t at = is_boundary(column) ? place_of_boundary(column) : place(column);
    ticks.put(at, is_boundary(column) ? "╁" : "┴", Style::Faint);
    put_centred(labels, at, core::ruler_label(column / kBurstColumns * step, step), Style::Plain);
  }
  put_total(ticks, "passed");
  return acts.render(colour) + labels.render(colour) + ticks.render(colour);
}

std::string legend(std::span<const DemoRow> rows, Colour colour) {
  const auto has_mixed_cells = [](const DemoRow& row) {
    const Cells cells = cells_of(row);
    return std::any_of(cells.begin(), cells.end(), is_mixed);
  };
  StyledLine line;
  line.put(kIndent, kPassed, Style::Good);
  line.append(" passed   ");
  line.append(kDenied, Style::Faint);
  line.append(" denied   ");
  if (std::any_of(rows.begin(), rows.end(), has_mixed_cells)) {
    line.append(kSomeOfEach, Style::Mixed);
    line.append(" some of each   ");
  }
  line.append(kBoundary, Style::Faint);
  line.append(" window boundary");
  return line.render(colour);
}

std::string heading(const DemoRow& row, Colour colour) {
  const std::string limit = std::to_string(row.quota.limit());
  const std::string period = core::exact_text(row.quota.period());
  return paragraph("The same " + std::to_string(row.requests.size()) +
                       " requests through every algorithm; allowed are " + limit + " per " +
                       period + ".",
                   0, Style::Bold, colour) +
         paragraph("Nothing for a while, " + limit + " just before a window boundary, " + limit +
                       " just after, then a steady " + limit + " per " + period + ".",
                   0, Style::Plain, colour);
}

// Explains the row of an algorithm.
std::string demo_caption(const Quota& quota) {
  const Duration period = quota.period();
  const std::string any_period = " in any " + core::exact_text(period);
  switch (quota.algorithm()) {
    case Algorithm::FixedWindow:
      return "The count starts again at every boundary, so both bursts pass in full: up to twice "
             "the limit" +
             any_period + ".";
    case Algorithm::AnchoredWindow: {
      const Duration step = period * kBurstColumns / kColumnsPerPeriod;
      return "Windows start with a key's first request: here one runs from " +
             core::ruler_label(-step, step) + " to " + core::ruler_label(period - step, step) +
             ". A burst around such a boundary of its own would pass twice all the same.";
    }
    case Algorithm::SlidingCounter:
      return "The count of the last window fades out over this one, so passage comes back little "
             "by little. At most " +
             std::to_string(2 * std::uint64_t{quota.limit()} - 1) + any_period + ".";
    case Algorithm::SubWindows:
      return "The promise of the log, kept with " + std::to_string(quota.sub_window_count() + 1) +
             " counters: a request counts until its whole part of " +
             core::rounded_up_text(period / quota.sub_window_count()) +
             " is past, so room comes back a little later.";
    case Algorithm::SlidingLog:
      return "Every passage is remembered for a full " + core::exact_text(period) +
             ": never more than " + std::to_string(quota.limit()) + any_period +
             ", wherever it begins.";
    case Algorithm::TokenBucket:
      return "A bucket of " + std::to_string(quota.capacity()) +
             ", refilled evenly: a burst takes what is there, " +
             "then a steady pace passes. At most " +
             std::to_string(std::uint64_t{quota.capacity()} + quota.limit() - 1) + any_period +
             ", by design.";
    case Algorithm::Gcra:
      return "The bucket again, kept as a single instant per key: the same requests pass.";
  }
  return {};
}

}  // namespace

std::string draw_demo(std::span<const DemoRow> rows, Colour colour) {
  const DemoRow& first = rows.front();
  std::string text = heading(first, colour) + "\n" + legend(rows, colour) + "\n";
  text += ruler(first.quota.period(), colour);
  for (const DemoRow& row : rows) {
    text += timeline(row).render(colour) + peak_mark(row).render(colour);
    text += paragraph(demo_caption(row.quota), kLeftMargin, Style::Plain, colour) + "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace penstock::app
