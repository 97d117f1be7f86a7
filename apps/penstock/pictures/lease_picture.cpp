#include "apps/penstock/pictures/lease_run.hpp"
#include "apps/penstock/pictures/pictures.hpp"
#include "apps/penstock/pictures/svg.hpp"
#include "apps/penstock/pictures/time_axis.hpp"

#include <algorithm>
#include <string>

namespace penstock::app {
namespace {

constexpr TimeAxis kLeaseAxis{.left = 110, .width = 660, .end = kLeaseRunEnd};
constexpr int kRedisLine = 236;
constexpr int kHandUnit = 3;  // height of a unit in hand

struct NodeRows {
  int requests = 0;
  int base = 0;  // of the units in hand
  int edge = 0;  // where calls to Redis begin
};
constexpr NodeRows kUpper{.requests = 96, .base = 180, .edge = 184};
constexpr NodeRows kLower{.requests = 388, .base = 364, .edge = 368};

// A dot per request, above the units in hand.
void draw_node(Svg& svg, const LeaseRun::Node& node, const std::string& name, NodeRows rows) {
  StepCurve curve(kLeaseAxis, rows.base, kHandUnit);
  for (const LeaseRun::Level& level : node.levels) curve.add(level.at, level.in_hand);
  curve.draw(svg);
  for (const LeaseRun::Request& request : node.requests) {
    const bool local = request.decided == LeaseRun::Decided::Locally;
    if (request.decided == LeaseRun::Decided::Denied) {
      svg.cross(kLeaseAxis.x(request.at), rows.requests, 3, "denied");
    } else {
      svg.circle(kLeaseAxis.x(request.at), rows.requests, 3, local ? "local" : "admitted");
    }
  }
  const auto local = static_cast<std::size_t>(std::count_if(
      node.requests.begin(), node.requests.end(),
      [](const LeaseRun::Request& each) { return each.decided == LeaseRun::Decided::Locally; }));
  const bool above = rows.requests < rows.base;
  const int title = above ? rows.requests - 22 : rows.requests + 30;
  svg.text(20, title, name, "strong");
  svg.text(kLeaseAxis.left, title,
           std::to_string(node.requests.size()) + " requests, " + std::to_string(local) +
               " of them decided locally, " + std::to_string(node.calls.size()) + " Redis calls",
           "muted");
  svg.text(kLeaseAxis.left - 10, rows.requests + 4, "requests", "muted", Svg::Anchor::End);
  svg.text(kLeaseAxis.left - 10, rows.base - 8, "units in hand", "muted", Svg::Anchor::End);
  svg.line(kLeaseAxis.left, rows.base, kLeaseAxis.right(), rows.base, "axis");
}

// To Redis and back; the units of a grant beside the line.
void draw_calls(Svg& svg, const LeaseRun::Node& node, NodeRows rows) {
  const bool above = rows.edge < kRedisLine;
  for (const LeaseRun::Call& call : node.calls) {
    const int x = kLeaseAxis.x(call.answered);
    svg.line(x, rows.edge, x, above ? kRedisLine : kRedisLine + 28, "call");
    if (call.granted == 0) continue;
    svg.text(x + 4, above ? rows.edge + 30 : kRedisLine + 50, "+" + std::to_string(call.granted),
             "small");
  }
}

}  // namespace

Picture draw_leases() {
  const LeaseRun run = run_leases();
  Svg svg(800, 470, "Leases: 1000/s, two nodes, one Redis",
          "Two nodes lease units of one limit from Redis. Most requests are decided locally from "
          "the units in hand; a node requests more before they run out, so Redis gets a few calls "
          "instead of one per request.");
  svg.circle(560, 26, 4, "local");
  svg.text(570, 30, "decided locally", "muted");
  svg.line(686, 26, 702, 26, "call");
  svg.text(708, 30, "Redis call", "muted");
  svg.text(20, 52, "mode: lease, lifetime 100 ms; 200 requests per second on each node", "muted");
  svg.rect({kLeaseAxis.left, kRedisLine, kLeaseAxis.width, 28}, "store", 4);
  svg.text(kLeaseAxis.left + kLeaseAxis.width / 2, kRedisLine + 19,
           "Redis: charges leased units when it grants them", "text", Svg::Anchor::Middle);
  draw_node(svg, run.nodes[0], "node A", kUpper);
  draw_calls(svg, run.nodes[0], kUpper);
  draw_node(svg, run.nodes[1], "node B", kLower);
  draw_calls(svg, run.nodes[1], kLower);
  kLeaseAxis.draw(svg, 440, std::chrono::milliseconds{50});
  return {.file = "leases.svg", .text = svg.finish()};
}

}  // namespace penstock::app
