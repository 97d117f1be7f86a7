#include "apps/penstock/pictures/algorithm_run.hpp"
#include "apps/penstock/pictures/pictures.hpp"
#include "apps/penstock/pictures/svg.hpp"
#include "apps/penstock/pictures/time_axis.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace penstock::app {
namespace {

constexpr int kWidth = 800;
constexpr int kLeft = 70;
constexpr int kUnitHeight = 8;  // of one unit of the limit
constexpr int kPanelHeight = 192;
constexpr int kFirstPanel = 64;
constexpr TimeAxis kAxis{.left = kLeft, .width = 700, .end = kRunEnd};

struct AlgorithmText {
  Algorithm algorithm;
  std::string_view summary;
};

constexpr std::array kAlgorithmTexts{
    AlgorithmText{Algorithm::TokenBucket,
                  "The bucket holds 10 tokens and refills at 1 per second. A request takes one."},
    AlgorithmText{
        Algorithm::Gcra,
        "One instant per key, which each request moves ahead. Decides as a token bucket."},
    AlgorithmText{Algorithm::FixedWindow,
                  "Counts requests per window of the clock. A boundary admits twice the limit."},
    AlgorithmText{Algorithm::AnchoredWindow,
                  "The first request of a key opens its window. The next one opens after its end."},
    AlgorithmText{Algorithm::SlidingCounter,
                  "Counts this window, and the previous one by the share of it that still counts."},
    AlgorithmText{
        Algorithm::SlidingLog,
        "Keeps the time of each admitted request: never more than the limit in any 10 s."},
    AlgorithmText{Algorithm::SubWindows,
                  "Counts in parts of a window: never more than the limit in any 10 s."},
};

std::string_view summary_of(Algorithm algorithm) {
  for (const AlgorithmText& each : kAlgorithmTexts) {
    if (each.algorithm == algorithm) return each.summary;
  }
  return {};
}

// The requests of a run, at this height.
void draw_requests(Svg& svg, std::span<const DemoRequest> requests, const TimeAxis& axis, int y) {
  for (const DemoRequest& request : requests) {
    if (request.outcome == Outcome::Allowed) {
      svg.circle(axis.x(request.at), y, 3, "admitted");
    } else {
      svg.cross(axis.x(request.at), y, 3, "denied");
    }
  }
}

void draw_legend(Svg& svg, int x, int y) {
  svg.circle(x, y - 4, 4, "admitted");
  svg.text(x + 10, y, "admitted", "muted");
  svg.cross(x + 84, y - 4, 4, "denied");
  svg.text(x + 94, y, "denied", "muted");
}

void draw_windows(Svg& svg, const AlgorithmRun& run, int top, int bottom) {
  bool shaded = true;
  for (const AlgorithmRun::Window& window : run.windows) {
    const int begin = kAxis.x(window.begin);
    const int end = kAxis.x(std::min(window.end, kRunEnd));
    if (shaded) svg.rect({begin, top, end - begin, bottom - top}, "window");
    svg.line(begin, top, begin, bottom, "boundary");
    if (window.end <= kRunEnd) svg.line(end, top, end, bottom, "boundary");
    shaded = !shaded;
  }
}

// The busiest period, as a bar with its length.
void draw_peak(Svg& svg, const AlgorithmRun& run, const Quota& quota, int y) {
  const int begin = kAxis.x(run.peak.from);
  const int end = kAxis.x(std::min(run.peak.from + quota.period(), kRunEnd));
  svg.line(begin, y, end, y, "span");
  svg.line(begin, y - 4, begin, y + 4, "span");
  svg.line(end, y - 4, end, y + 4, "span");
  svg.text(kAxis.right(), y - 16,
           "most in any 10 s: " + std::to_string(run.peak.passed) + " (limit 10)", "muted",
           Svg::Anchor::End);
}

void draw_panel(Svg& svg, const Quota& quota, const std::string& title,
                std::span<const Duration> arrivals, int top) {
  const AlgorithmRun run = run_algorithm(quota, arrivals, kRunEnd);
  const int base = top + 38 + static_cast<int>(quota.capacity()) * kUnitHeight;
  const int requests = base + 18;
  draw_windows(svg, run, top + 38, requests + 12);
  StepCurve curve(kAxis, base, kUnitHeight);
  const bool is_bucket = quota.is_bucket();
  for (const AlgorithmRun::Level& level : run.levels) {
    curve.add(level.at, is_bucket ? level.remaining : quota.limit() - level.remaining);
  }
  curve.draw(svg);
  svg.text(20, top + 12, title, "strong");
  svg.text(kLeft - 8, top + 44, std::to_string(quota.limit()), "small", Svg::Anchor::End);
  svg.text(kLeft - 8, base, "0", "small", Svg::Anchor::End);
  svg.text(kLeft - 8, top + 38 + (base - top - 38) / 2 + 4, is_bucket ? "tokens" : "used", "muted",
           Svg::Anchor::End);
  svg.line(kLeft, top + 38, kAxis.right(), top + 38, "limit");
  draw_requests(svg, run.requests, kAxis, requests);
  svg.text(kLeft - 8, requests + 4, "requests", "muted", Svg::Anchor::End);
  draw_peak(svg, run, quota, top + 28);
  kAxis.draw(svg, requests + 14, std::chrono::seconds{2});
}

}  // namespace

Picture draw_algorithm(Algorithm algorithm) {
  const Quota quota = pictured_quota(algorithm);
  const std::string name(to_string(algorithm));
  const std::string description =
      std::string(summary_of(algorithm)) +
      " Two time lines with a limit of 10 requests per 10 seconds: a burst of 15 requests, and 20 "
      "requests around a window boundary. Each request is marked as admitted or denied.";
  Svg svg(kWidth, kFirstPanel + 2 * kPanelHeight + 16, name + ": 10 per 10 s", description);
  svg.text(20, 52, summary_of(algorithm), "muted");
  draw_legend(svg, 640, 30);
  draw_panel(svg, quota, "A burst of 15 requests, then 1 per second", burst_arrivals(),
             kFirstPanel);
  draw_panel(svg, quota, "10 requests before and 10 after the boundary at 10 s",
             boundary_arrivals(), kFirstPanel + kPanelHeight + 4);
  return {.file = "algorithm_" + name + ".svg", .text = svg.finish()};
}

Picture draw_comparison() {
  constexpr int kRowHeight = 34;
  constexpr int kFirstRow = 80;
  constexpr TimeAxis kNarrow{.left = 150, .width = 480, .end = kRunEnd};
  constexpr int kBottom = kFirstRow + 7 * kRowHeight - 12;
  Svg svg(kWidth, kBottom + 46, "One burst, seven algorithms: 10 per 10 s",
          "The same requests under each algorithm: 10 before and 10 after a window boundary at 10 "
          "seconds, then one per second; and the most that each admits in any 10 seconds.");
  draw_legend(svg, 640, 30);
  svg.text(kNarrow.right() + 20, 58, "most in any 10 s", "muted");
  svg.line(kNarrow.x(std::chrono::seconds{10}), 50, kNarrow.x(std::chrono::seconds{10}), kBottom,
           "boundary");
  svg.text(kNarrow.x(std::chrono::seconds{10}) - 6, 58, "window boundary", "muted",
           Svg::Anchor::End);
  int y = kFirstRow;
  for (const AlgorithmText& each : kAlgorithmTexts) {
    const Quota quota = pictured_quota(each.algorithm);
    const AlgorithmRun run = run_algorithm(quota, boundary_arrivals(), kRunEnd);
    svg.text(kNarrow.left - 12, y + 4, to_string(each.algorithm), "text", Svg::Anchor::End);
    svg.line(kNarrow.left, y, kNarrow.right(), y, "grid");
    draw_requests(svg, run.requests, kNarrow, y);
    svg.text(kNarrow.right() + 20, y + 4, std::to_string(run.peak.passed), "strong");
    y += kRowHeight;
  }
  kNarrow.draw(svg, kBottom, std::chrono::seconds{2});
  return {.file = "algorithms.svg", .text = svg.finish()};
}

}  // namespace penstock::app
