#include "rules/settings/gateway_format.hpp"

#include "rules/model/path_pattern.hpp"
#include "rules/settings/known_keys.hpp"
#include "rules/settings/listen_format.hpp"
#include "rules/settings/paths_format.hpp"
#include "rules/yaml/scalar_fields.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMostAtOnce = 10'000'000;
constexpr std::size_t kMaxShared = 1'000'000;  // permits of a key in the store
constexpr Duration kLeastLease = 1s;
constexpr Duration kMaxLease = 1h;
constexpr std::int64_t kMaxHeaderBytes = std::int64_t{1} << 20U;
constexpr std::int64_t kMaxRate = std::int64_t{1} << 30U;  // bytes per second
// Each has its metrics, and each request looks at the routes one after the other.
constexpr std::size_t kMaxUpstreams = 100;
constexpr std::size_t kMaxRoutes = 1'000;

// "http://127.0.0.1:3000"; the port of HTTP when there is none.
std::optional<Address> parse_server(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return std::nullopt;
  std::string authority(url.substr(kScheme.size()));
  if (authority.ends_with('/')) authority.pop_back();
  if (authority.empty() || authority.find_first_of("/?#@ ") != std::string::npos) {
    return std::nullopt;
  }
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string::npos || authority.find(']', colon) != std::string::npos) {
    authority += ":80";
  }
  std::optional<Address> address = parse_address(authority);
  if (address && address->port == 0) return std::nullopt;
  return address;
}

void read_health(const YamlFields& upstream, HealthSettings& health) {
  const auto section = upstream.find("health");
  if (!section) return;
  const YamlFields fields(*section, keys::kHealth);
  read_text(fields, "path", health.path);
  if (!health.path.empty() && !health.path.starts_with('/')) {
    section->error("health: path " + quote_value(health.path) + " does not begin with a slash");
  }
  read_duration(fields, "interval", kMaxTimeout, health.interval);
  read_duration(fields, "timeout", kMaxTimeout, health.timeout);
  read_number(fields, "healthy", 1, 1'000, health.healthy);
  read_number(fields, "unhealthy", 1, 1'000'000, health.unhealthy);
  read_duration(fields, "pause", kMaxTimeout, health.pause);
}

UpstreamSettings read_upstream(const YamlEntry& entry) {
  const YamlFields fields(entry.value, keys::kUpstream);
  UpstreamSettings upstream{.name = std::string(entry.key.raw())};
  if (const auto servers = fields.require("servers")) {
    for (const YamlNode& node : servers->one_or_list()) {
      auto server = node.is_text() ? parse_server(node.raw()) : std::nullopt;
      if (server) {
        upstream.servers.push_back(*std::move(server));
      } else {
        node.expected("a server such as http://127.0.0.1:3000");
      }
    }
    if (servers->is_list() && servers->list().empty()) servers->error("servers: none at all");
  }
  read_number(fields, "max_in_flight", 1, kMostAtOnce, upstream.max_in_flight);
  read_number(fields, "keepalive", 0, 100'000, upstream.keepalive);
  read_duration(fields, "keepalive_timeout", kMaxTimeout, upstream.keepalive_timeout);
  read_duration(fields, "connect_timeout", kMaxTimeout, upstream.connect_timeout);
  read_duration(fields, "first_byte_timeout", kMaxTimeout, upstream.first_byte_timeout);
  read_duration(fields, "read_timeout", kMaxTimeout, upstream.read_timeout);
  read_duration(fields, "write_timeout", kMaxTimeout, upstream.write_timeout);
  read_health(fields, upstream.health);
  return upstream;
}

void read_upstreams(const YamlFields& gateway, GatewaySettings& settings) {
  const auto section = gateway.require("upstreams");
  if (!section) return;
  for (const YamlEntry& entry : section->entries()) {
    settings.upstreams.push_back(read_upstream(entry));
  }
  if (settings.upstreams.size() > kMaxUpstreams) {
    section->error("upstreams: more than " + std::to_string(kMaxUpstreams));
  }
}

void read_host(const YamlFields& fields, RouteSettings& route) {
  read_text(fields, "host", route.host);
  for (char& letter : route.host) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  const std::size_t star = route.host.find('*');
  const bool odd_star = star != std::string::npos &&
                        (star != 0 || !route.host.starts_with("*.") || route.host.rfind('*') != 0);
  if (odd_star || route.host.find_first_of("/: ") != std::string::npos) {
    fields.find("host")->expected("a name such as api.example.com or *.example.com, without port");
  }
}

RouteSettings read_route(const YamlNode& node, LoadState& state) {
  const GatewaySettings& settings = state.settings.gateway;
  const YamlFields fields(node, keys::kRoute);
  RouteSettings route;
  read_host(fields, route);
  if (const auto path = fields.find("path")) {
    read_text(fields, "path", route.path);
    std::vector<std::string> names;
    const auto pattern = PathPattern::parse(route.path, PathPattern::Braces::Literal, names);
    if (!pattern) path->error("path: " + pattern.error().detail);
  }
  read_text(fields, "domain", route.domain);
  if (const auto domain = fields.find("domain"); domain && !route.domain.empty()) {
    state.references.push_back({.node = *domain,
                                .domain = route.domain,
                                .option = "gateway.routes.domain",
                                .listener = "this route",
                                .folding = folding(settings.paths, "gateway.paths.case")});
  }
  read_text(fields, "strip_prefix", route.strip_prefix);
  if (!route.strip_prefix.empty() &&
      (!route.strip_prefix.starts_with('/') || route.strip_prefix.ends_with('/'))) {
    fields.find("strip_prefix")->expected("a prefix such as /api, without a slash at its end");
  }
  const auto upstream = fields.require("upstream");
  if (!upstream || !upstream->is_text()) return route;
  const auto known =
      std::find_if(settings.upstreams.begin(), settings.upstreams.end(),
                   [&](const UpstreamSettings& one) { return one.name == upstream->raw(); });
  if (known == settings.upstreams.end()) {
    upstream->error("upstream: no upstream is called " + quote_value(upstream->raw()));
  } else {
    route.upstream = static_cast<std::size_t>(known - settings.upstreams.begin());
  }
  return route;
}

void read_routes(const YamlFields& gateway, LoadState& state) {
  GatewaySettings& settings = state.settings.gateway;
  const auto section = gateway.require("routes");
  if (!section) return;
  for (const YamlNode& node : section->list()) {
    settings.routes.push_back(read_route(node, state));
  }
  if (settings.routes.size() > kMaxRoutes) {
    section->error("routes: more than " + std::to_string(kMaxRoutes));
  }
}

void read_in_flight(const YamlFields& gateway, LoadState& state) {
  InFlightSettings& in_flight = state.settings.gateway.max_in_flight;
  const auto section = gateway.find("max_in_flight");
  if (!section) return;
  const YamlFields fields(*section, keys::kInFlight);
  read_text(fields, "key", in_flight.key);
  state.in_flight_key = fields.find("key");
  read_number(fields, "limit", 0, kMostAtOnce, in_flight.limit);
  read_boolean(fields, "shared", in_flight.shared);
  read_duration(fields, "lease", kMaxLease, in_flight.lease);
  if (in_flight.shared && in_flight.limit > kMaxShared) {
    section->error("max_in_flight: a limit that is shared is at most " +
                   std::to_string(kMaxShared));
  }
  if (in_flight.lease < kLeastLease) {
    fields.find("lease")->expected("a time of 1s at least, so that renewals keep up");
  }
}

void read_headers_with_underscores(const YamlFields& gateway, Underscores& action) {
  const auto node = gateway.find("headers_with_underscores");
  if (!node) return;
  const auto chosen = node->choice<Underscores>({{"drop", Underscores::Drop},
                                                 {"reject", Underscores::Reject},
                                                 {"allow", Underscores::Allow}});
  if (chosen) action = *chosen;
}

void read_access_log(const YamlFields& gateway, AccessLogSettings& log) {
  using Format = AccessLogSettings::Format;
  const auto section = gateway.find("access_log");
  if (!section) return;
  const YamlFields fields(*section, keys::kAccessLog);
  if (const auto format = fields.find("format")) {
    const auto chosen = format->choice<Format>(
        {{"off", Format::Off}, {"combined", Format::Combined}, {"json", Format::Json}});
    if (chosen) log.format = *chosen;
  }
  const auto path = fields.find("path");
  if (path && path->raw() != "stdout") read_path(fields, "path", log.path);
}

}  // namespace

void load_gateway(const YamlNode& section, LoadState& state) {
  const YamlFields fields(section, keys::kGateway);
  GatewaySettings& gateway = state.settings.gateway;
  static_cast<void>(fields.require("listen"));
  read_addresses(fields, gateway.listen);
  read_tls(fields, gateway.tls);
  read_text(fields, "domain", gateway.domain);
  read_number(fields, "max_connections", 1, kMostAtOnce, gateway.max_connections);
  read_number(fields, "max_streams", 1, 1'000'000, gateway.max_streams);
  read_number(fields, "max_header_bytes", 256, kMaxHeaderBytes, gateway.max_header_bytes);
  read_duration(fields, "header_timeout", kMaxTimeout, gateway.header_timeout);
  read_duration(fields, "body_timeout", kMaxTimeout, gateway.body_timeout);
  read_duration(fields, "write_timeout", kMaxTimeout, gateway.write_timeout);
  read_duration(fields, "idle_timeout", kMaxTimeout, gateway.idle_timeout);
  read_duration(fields, "tunnel_timeout", kMaxTimeout, gateway.tunnel_timeout);
  read_number(fields, "min_upload_rate", 0, kMaxRate, gateway.min_upload_rate);
  read_number(fields, "min_download_rate", 0, kMaxRate, gateway.min_download_rate);
  read_paths(fields, gateway.paths);
  read_headers_with_underscores(fields, gateway.headers_with_underscores);
  read_boolean(fields, "forward_request_trailers", gateway.forward_request_trailers);
  read_in_flight(fields, state);
  read_access_log(fields, gateway.access_log);
  read_upstreams(fields, gateway);
  read_routes(fields, state);
  const bool is_used = std::any_of(gateway.routes.begin(), gateway.routes.end(),
                                   [](const RouteSettings& one) { return one.domain.empty(); });
  const auto domain = fields.find("domain");
  if (!is_used && !domain) return;
  state.references.push_back({.node = domain.value_or(section),
                              .domain = gateway.domain,
                              .option = "gateway.domain",
                              .listener = "the gateway",
                              .folding = folding(gateway.paths, "gateway.paths.case")});
}

}  // namespace penstock::rules
