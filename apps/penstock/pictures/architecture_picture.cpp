#include "apps/penstock/pictures/pictures.hpp"
#include "apps/penstock/pictures/svg.hpp"

#include <array>
#include <string_view>

namespace penstock::app {
namespace {

// A client above its listener.
struct ListenerColumn {
  int x = 0;
  int width = 0;
  std::array<std::string_view, 2> client{};
  std::array<std::string_view, 3> listener{};
};

constexpr std::array kListenerColumns{
    ListenerColumn{.x = 24,
                   .width = 172,
                   .client = {"services, nginx, HAProxy,", "Caddy, Traefik"},
                   .listener = {"HTTP API", "/v1/check  /v1/take", "/v1/forward-auth  :8080"}},
    ListenerColumn{.x = 208,
                   .width = 136,
                   .client = {"Envoy,", "gRPC clients"},
                   .listener = {"gRPC", "ShouldRateLimit", ":8081"}},
    ListenerColumn{.x = 356,
                   .width = 136,
                   .client = {"Redis clients", ""},
                   .listener = {"Redis protocol", "CL.THROTTLE", ":6380"}},
    ListenerColumn{.x = 504,
                   .width = 110,
                   .client = {"operators,", "Prometheus"},
                   .listener = {"admin", "/metrics  /top", ":9090"}},
    ListenerColumn{.x = 640,
                   .width = 136,
                   .client = {"browsers,", "apps"},
                   .listener = {"gateway", "reverse proxy", ":8000"}},
};
constexpr int kListenerTop = 118;
constexpr int kListenerBottom = 184;

void draw_column(Svg& svg, const ListenerColumn& column) {
  const int middle = column.x + column.width / 2;
  svg.text(middle, 68, column.client[0], "text", Svg::Anchor::Middle);
  svg.text(middle, 85, column.client[1], "text", Svg::Anchor::Middle);
  svg.arrow(middle, 92, middle, kListenerTop);
  svg.rect({column.x, kListenerTop, column.width, kListenerBottom - kListenerTop}, "part", 4);
  svg.text(middle, kListenerTop + 20, column.listener[0], "strong", Svg::Anchor::Middle);
  svg.text(middle, kListenerTop + 38, column.listener[1], "muted", Svg::Anchor::Middle);
  svg.text(middle, kListenerTop + 55, column.listener[2], "muted", Svg::Anchor::Middle);
}

// A box with a title and two lines.
void draw_part(Svg& svg, Svg::Box box, std::string_view style,
               std::array<std::string_view, 3> lines) {
  const int middle = box.x + box.width / 2;
  svg.rect(box, style, 4);
  svg.text(middle, box.y + 22, lines[0], "strong", Svg::Anchor::Middle);
  svg.text(middle, box.y + 41, lines[1], "muted", Svg::Anchor::Middle);
  svg.text(middle, box.y + 58, lines[2], "muted", Svg::Anchor::Middle);
}

}  // namespace

Picture draw_architecture() {
  Svg svg(900, 478, "Penstock",
          "Clients call listeners of the daemon: HTTP API, gRPC, Redis protocol and gateway. All "
          "listeners share the rules and the service, which decides with the memory store or with "
          "Redis, directly, from leases, or by local fallback while Redis is down. The gateway "
          "forwards admitted requests to the application. Operators use the admin port.");
  svg.rect({12, 106, 776, 244}, "box", 6);
  for (const ListenerColumn& column : kListenerColumns) draw_column(svg, column);
  svg.text(24, 338, "daemon: one event loop per core", "muted");
  svg.arrow(776, 150, 808, 150);
  svg.rect({808, 128, 80, 44}, "part", 4);
  svg.text(848, 147, "your", "text", Svg::Anchor::Middle);
  svg.text(848, 163, "application", "small", Svg::Anchor::Middle);
  draw_part(svg, {24, 214, 172, 72}, "part",
            {"rules", "which limits apply?", "YAML, reloaded on change"});
  draw_part(svg, {232, 214, 192, 72}, "part",
            {"service", "checks all limits or none,", "applies on_failure"});
  draw_part(svg, {460, 214, 316, 72}, "part",
            {"local decisions", "leases, denial cache,", "local fallback while Redis is down"});
  // all listeners but the admin port share the rules
  for (const int x : {110, 276, 424, 708}) svg.line(x, kListenerBottom, x, 199, "edge");
  svg.line(110, 199, 708, 199, "edge");
  svg.arrow(110, 199, 110, 214);
  svg.arrow(196, 250, 232, 250);
  svg.arrow(424, 250, 460, 250);
  draw_part(svg, {120, 388, 230, 72}, "store",
            {"memory store", "in this process,", "exact, lost at exit"});
  draw_part(svg, {430, 388, 346, 72}, "store",
            {"Redis 7 or Valkey", "standalone, Sentinel or Cluster;",
             "scripts decide atomically, all daemons share"});
  svg.arrow(290, 286, 290, 388);
  svg.arrow(618, 286, 618, 388);
  return {.file = "architecture.svg", .text = svg.finish()};
}

}  // namespace penstock::app
