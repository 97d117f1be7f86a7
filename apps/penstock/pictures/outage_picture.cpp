#include "apps/penstock/pictures/outage_run.hpp"
#include "apps/penstock/pictures/pictures.hpp"
#include "apps/penstock/pictures/svg.hpp"
#include "apps/penstock/pictures/time_axis.hpp"

#include <string>

namespace penstock::app {
namespace {

constexpr TimeAxis kOutageAxis{.left = 110, .width = 660, .end = kOutageRunEnd};
constexpr int kOutageTop = 92;
constexpr int kUsedUnit = 2;  // height of a used unit
constexpr int kUsedBase = kOutageTop + 30 + 60 * kUsedUnit;
constexpr int kFirstNode = kUsedBase + 34;

void draw_decisions(Svg& svg, const std::vector<OutageRun::Request>& requests, int y) {
  for (const OutageRun::Request& request : requests) {
    const int x = kOutageAxis.x(request.at);
    switch (request.decided) {
      case OutageRun::Decided::AllowedByRedis: svg.circle(x, y, 3, "admitted"); break;
      case OutageRun::Decided::AllowedLocally: svg.circle(x, y, 3, "local"); break;
      case OutageRun::Decided::Denied: svg.cross(x, y, 3, "denied"); break;
    }
  }
}

void draw_outage_legend(Svg& svg) {
  svg.circle(428, 26, 4, "admitted");
  svg.text(436, 30, "admitted by Redis", "muted");
  svg.circle(558, 26, 4, "local");
  svg.text(566, 30, "admitted by local fallback", "muted");
  svg.cross(734, 26, 4, "denied");
  svg.text(742, 30, "denied", "muted");
}

void draw_usage(Svg& svg, const OutageRun& run) {
  StepCurve curve(kOutageAxis, kUsedBase, kUsedUnit);
  for (const OutageRun::Level& level : run.levels) curve.add(level.at, level.used);
  curve.draw(svg);
  const int limit = kUsedBase - 60 * kUsedUnit;
  svg.line(kOutageAxis.left, limit, kOutageAxis.right(), limit, "limit");
  svg.text(kOutageAxis.left - 10, limit + 4, "limit 60", "muted", Svg::Anchor::End);
  svg.text(kOutageAxis.left - 10, kUsedBase - 50, "used,", "muted", Svg::Anchor::End);
  svg.text(kOutageAxis.left - 10, kUsedBase - 34, "in Redis", "muted", Svg::Anchor::End);
  svg.text(kOutageAxis.left - 10, kUsedBase + 4, "0", "small", Svg::Anchor::End);
}

void draw_reports(Svg& svg, const OutageRun& run) {
  std::uint64_t units = 0;
  for (const OutageRun::Report& report : run.reports) units += report.units;
  if (run.reports.empty()) return;
  const int x = kOutageAxis.x(run.reports.front().at);
  svg.arrow(x, kFirstNode - 10, x, kUsedBase - 60 * kUsedUnit + 8);
  svg.text(x + 8, kUsedBase - 50, "outage reconciliation:", "small");
  svg.text(x + 8, kUsedBase - 35, std::to_string(units) + " units are reported", "small");
  svg.text(x + 8, kUsedBase - 20, "to Redis and charged", "small");
}

}  // namespace

Picture draw_outage() {
  const OutageRun run = run_outage();
  const int bottom = kFirstNode + 66;
  Svg svg(800, bottom + 38, "Redis outage: 60 per minute, two nodes",
          "Two nodes share a limit in Redis. While Redis is down each node enforces its share of "
          "the limit, starting from the last known usage. When Redis is back, the nodes report "
          "what they admitted.");
  draw_outage_legend(svg);
  svg.text(20, 52,
           "on_failure: local, fixed_window, 1 request per second on each node. Admitted in the "
           "first minute: " +
               std::to_string(run.admitted) + ".",
           "muted");
  const int begin = kOutageAxis.x(kOutageBegin);
  const int end = kOutageAxis.x(kOutageEnd);
  svg.rect({begin, kOutageTop, end - begin, bottom - kOutageTop}, "outage");
  svg.text((begin + end) / 2, kOutageTop - 8, "Redis is down: each node enforces 30", "text",
           Svg::Anchor::Middle);
  const int boundary = kOutageAxis.x(outage_quota().period());
  svg.line(boundary, kOutageTop, boundary, bottom, "boundary");
  svg.text(boundary, kOutageTop - 8, "next window", "muted", Svg::Anchor::Middle);
  draw_usage(svg, run);
  draw_reports(svg, run);
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const int y = kFirstNode + 12 + static_cast<int>(i) * 28;
    svg.text(kOutageAxis.left - 10, y + 4, i == 0 ? "node A" : "node B", "text", Svg::Anchor::End);
    draw_decisions(svg, run.nodes[i], y);
  }
  kOutageAxis.draw(svg, bottom, std::chrono::seconds{10});
  return {.file = "redis_outage.svg", .text = svg.finish()};
}

}  // namespace penstock::app
