#include "base/text.hpp"
#include "rules/model/path_pattern.hpp"
#include "rules/settings/section_options.hpp"

#include <algorithm>

// The rows of `gateway`.
namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMaxInFlight = 10'000'000;
constexpr std::size_t kMaxShared = 1'000'000;  // permits of a key in the store
constexpr Duration kMinLease = 1s;
constexpr Duration kMaxLease = 1h;
constexpr std::int64_t kMaxHeaderBytes = std::int64_t{1} << 20U;
constexpr std::int64_t kMaxRate = std::int64_t{1} << 30U;  // bytes per second
// Each upstream has its metrics, and each request scans the routes.
constexpr std::size_t kMaxUpstreams = 100;
constexpr std::size_t kMaxRoutes = 1'000;

// "http://127.0.0.1:3000"; port 80 when there is none.
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

void read_gateway_headers(const OptionValue& value, GatewaySettings& gateway) {
  gateway.headers = read_headers(value.node);
}

void read_servers(const OptionValue& value, UpstreamSettings& upstream) {
  for (const YamlNode& node : value.node.one_or_list()) {
    auto server = node.is_text() ? parse_server(node.raw()) : std::nullopt;
    if (server) {
      upstream.servers.push_back(*std::move(server));
    } else {
      node.expected("a server such as http://127.0.0.1:3000");
    }
  }
  if (value.node.is_list() && value.node.list().empty()) value.node.error("servers: none at all");
}

void check_health(const YamlFields& fields, HealthSettings& health, LoadState&) {
  if (health.path.empty() || health.path.starts_with('/')) return;
  fields.map().error("health: path " + quote_value(health.path) + " does not begin with a slash");
}

void read_upstreams(const OptionValue& value, GatewaySettings& gateway) {
  for (const YamlEntry& entry : value.node.entries()) {
    UpstreamSettings& upstream = gateway.upstreams.emplace_back();
    upstream.name = entry.key.raw();
    static_cast<void>(read_section(entry.value, upstream_options(), upstream, value.state));
  }
  if (gateway.upstreams.size() > kMaxUpstreams) {
    value.node.error("upstreams: more than " + std::to_string(kMaxUpstreams));
  }
}

void read_host(const OptionValue& value, RouteSettings& route) {
  route.host = base::lower_case(value.node.text().value_or(""));
  const std::size_t star = route.host.find('*');
  const bool odd_star = star != std::string::npos &&
                        (star != 0 || !route.host.starts_with("*.") || route.host.rfind('*') != 0);
  if (odd_star || route.host.find_first_of("/: ") != std::string::npos) {
    value.node.expected("a name such as api.example.com or *.example.com, without port");
  }
}

void read_route_path(const OptionValue& value, RouteSettings& route) {
  if (const auto path = value.node.text()) route.path = *path;
  std::vector<std::string> names;
  const auto pattern = PathPattern::parse(route.path, PathPattern::Braces::Literal, names);
  if (!pattern) value.node.error("path: " + pattern.error().detail);
}

void read_strip_prefix(const OptionValue& value, RouteSettings& route) {
  route.strip_prefix = value.node.text().value_or("");
  if (route.strip_prefix.empty()) return;
  if (!route.strip_prefix.starts_with('/') || route.strip_prefix.ends_with('/')) {
    value.node.expected("a prefix such as /api, without a slash at its end");
  }
}

void read_route_upstream(const OptionValue& value, RouteSettings& route) {
  const auto name = value.node.text();
  if (!name) return;
  const auto& upstreams = value.state.settings.gateway.upstreams;
  const auto known = std::find_if(upstreams.begin(), upstreams.end(),
                                  [&](const UpstreamSettings& one) { return one.name == *name; });
  if (known == upstreams.end()) {
    value.node.error("upstream: no upstream is called " + quote_value(*name));
  } else {
    route.upstream = static_cast<std::size_t>(known - upstreams.begin());
  }
}

void read_routes(const OptionValue& value, GatewaySettings& gateway) {
  for (const YamlNode& node : value.node.list()) {
    RouteSettings& route = gateway.routes.emplace_back();
    const YamlFields fields = read_section(node, route_options(), route, value.state);
    const auto domain = fields.find("domain");
    if (!domain || route.domain.empty()) continue;
    value.state.references.push_back({.node = *domain,
                                      .domain = route.domain,
                                      .option = "gateway.routes.domain",
                                      .listener = "this route",
                                      .folding = folding(gateway.paths, "gateway.paths.case")});
  }
  if (gateway.routes.size() > kMaxRoutes) {
    value.node.error("routes: more than " + std::to_string(kMaxRoutes));
  }
}

void check_in_flight(const YamlFields& fields, InFlightSettings& in_flight, LoadState& state) {
  state.in_flight_key = fields.find("key");
  if (in_flight.shared && in_flight.limit > kMaxShared) {
    fields.map().error("max_in_flight: a limit that is shared is at most " +
                       std::to_string(kMaxShared));
  }
  const auto lease = fields.find("lease");
  if (lease && in_flight.lease < kMinLease) {
    lease->expected("a time of 1s at least, so that renewals keep up");
  }
}

void read_log_path(const OptionValue& value, AccessLogSettings& log) {
  if (value.node.raw() == "stdout") {
    log.path = "stdout";
  } else if (auto path = read_path(value.node)) {
    log.path = *std::move(path);
  }
}

}  // namespace

const Options<HealthSettings>& health_options() {
  using S = HealthSettings;
  static const Options<S> options{
      text("path", &S::path,
           "path that every worker requests from each server; a status below 400 is healthy")
          .by_default("no health checks")
          .sampled("/up"),
      duration("interval", &S::interval, kMaxTimeout, "between two checks"),
      duration("timeout", &S::timeout, kMaxTimeout, "for the response"),
      number("healthy", &S::healthy, {1, 1'000},
             "consecutive healthy responses after which a server is used again"),
      number("unhealthy", &S::unhealthy, {1, 1'000'000},
             "consecutive failures, of requests too, after which a server is not used"),
      duration("pause", &S::pause, kMaxTimeout,
               "how long an unhealthy server is not used when there is no `path`"),
  };
  return options;
}

const Options<UpstreamSettings>& upstream_options() {
  using S = UpstreamSettings;
  static const Options<S> options{
      custom("servers", &S::servers, "http://127.0.0.1:2", read_servers,
             "`http://host:port`, or a list")
          .required(),
      number("max_in_flight", &S::max_in_flight, {1, kMaxInFlight},
             "requests in flight, all workers together; more are answered with 503"),
      number("keepalive", &S::keepalive, {0, 100'000},
             "idle connections that each worker keeps to each server"),
      duration("keepalive_timeout", &S::keepalive_timeout, kMaxTimeout, "for how long"),
      duration("connect_timeout", &S::connect_timeout, kMaxTimeout,
               "for a new connection, name resolution included"),
      duration("first_byte_timeout", &S::first_byte_timeout, kMaxTimeout,
               "from the end of the request to the first byte of the response"),
      duration("read_timeout", &S::read_timeout, kMaxTimeout, "between two reads of a response"),
      duration("write_timeout", &S::write_timeout, kMaxTimeout,
               "for the server to read a piece of the request"),
      section("health", &S::health, health_options(), check_health, "when a server is unhealthy"),
  };
  return options;
}

const Options<RouteSettings>& route_options() {
  using S = RouteSettings;
  static const Options<S> options{
      custom("host", &S::host, "api.example.com", read_host,
             "`api.example.com`, or `*.example.com` for all names below")
          .by_default("all"),
      custom("path", &S::path, "/v1/**", read_route_path, "a pattern as in rules: `/v1/**`")
          .by_default("`/**`"),
      custom("upstream", &S::upstream, "other", read_route_upstream, "name of the upstream")
          .required(),
      text("domain", &S::domain, "domain of its requests").by_default("the gateway's"),
      custom("strip_prefix", &S::strip_prefix, "/v1", read_strip_prefix,
             "prefix that is removed from the normalized path before it is forwarded; a path "
             "without it is rejected with 400"),
  };
  return options;
}

const Options<InFlightSettings>& in_flight_options() {
  using S = InFlightSettings;
  static const Options<S> options{
      text("key", &S::key,
           "attribute that identifies a client; requests without it are not limited"),
      number("limit", &S::limit, {0, kMaxInFlight},
             "requests of one client in flight, all workers together; 0: no limit. More are denied "
             "with 429"),
      flag("shared", &S::shared,
           "the limit holds for all daemons of one store, by [permits](concurrency-limits.md) in "
           "the store, and for each daemon alone while the store is unavailable; at most 1000000"),
      duration("lease", &S::lease, kMaxLease,
               "permits held by a crashed daemon expire after this time; a running daemon renews "
               "them every third of it. From `1s` to `1h`"),
  };
  return options;
}

const Options<AccessLogSettings>& access_log_options() {
  using S = AccessLogSettings;
  static const Options<S> options{
      word("format", &S::format,
           {{"off", S::Format::Off}, {"combined", S::Format::Combined}, {"json", S::Format::Json}},
           "`off`, `combined` or `json`"),
      custom("path", &S::path, "access.log", read_log_path,
             "file that lines are appended to, or `stdout`")
          .by_default("`stdout`"),
  };
  return options;
}

const Options<GatewaySettings>& gateway_options() {
  using S = GatewaySettings;
  static const Options<S> options{
      listen(&S::listen, "`host:port`, or a list").required(),
      tls(&S::tls, "serve over TLS; keys as in `server.tls`"),
      text("domain", &S::domain, "domain of requests, unless the route has another"),
      number("max_connections", &S::max_connections, {1, kMaxConnections},
             "more connections are answered with 503; divided evenly among the workers"),
      number("max_streams", &S::max_streams, {1, 1'000'000},
             "concurrent requests of one HTTP/2 connection"),
      number("max_header_bytes", &S::max_header_bytes, {256, kMaxHeaderBytes},
             "headers of one request, and of one response, 256 to 1048576"),
      duration("header_timeout", &S::header_timeout, kMaxTimeout,
               "from the first byte to the end of the headers"),
      duration("body_timeout", &S::body_timeout, kMaxTimeout, "between two reads of a body"),
      duration("write_timeout", &S::write_timeout, kMaxTimeout,
               "for a client to read a piece of its response"),
      duration("idle_timeout", &S::idle_timeout, kMaxTimeout,
               "between two requests of a connection"),
      duration("tunnel_timeout", &S::tunnel_timeout, kMaxTimeout,
               "between two bytes of an upgraded connection, such as a WebSocket"),
      number("min_upload_rate", &S::min_upload_rate, {0, kMaxRate},
             "minimum rate of a request body, in bytes per second. A client that is `body_timeout` "
             "behind this rate is answered with 408. Only time in which the gateway waits for the "
             "client counts. 0: no minimum"),
      number("min_download_rate", &S::min_download_rate, {0, kMaxRate},
             "minimum rate at which a client reads a response, in bytes per second. The "
             "connection, or the HTTP/2 stream, of a client that is `write_timeout` behind this "
             "rate is closed. Only time in which the gateway waits for the client counts; tunnels "
             "are exempt. 0: no minimum"),
      section("paths", &S::paths, path_options(), nullptr, "how paths are normalized"),
      word("headers_with_underscores", &S::headers_with_underscores,
           {{"drop", Underscores::Drop},
            {"reject", Underscores::Reject},
            {"allow", Underscores::Allow}},
           "`drop`, `reject` (400) or `allow` fields such as `X_Api_Key`, which many frameworks "
           "cannot tell from `X-Api-Key`"),
      flag("forward_request_trailers", &S::forward_request_trailers,
           "forward fields after a request body, which rules do not see"),
      custom("headers", &S::headers, "draft-07", read_gateway_headers,
             "rate limit headers in responses, as in `server.headers`")
          .by_default("those of `server.headers`"),
      section("max_in_flight", &S::max_in_flight, in_flight_options(), check_in_flight,
              "concurrent requests of one client")
          .by_default("no limit"),
      section("access_log", &S::access_log, access_log_options(), nullptr,
              "a line for each request")
          .by_default("none"),
      custom("upstreams", &S::upstreams, "{app: {servers: \"http://127.0.0.1:9\"}}", read_upstreams,
             "a map of names to upstreams, at most 100")
          .required(),
      custom("routes", &S::routes, "[{upstream: app, path: /v2}]", read_routes,
             "a list, of which the first match counts, at most 1000. A request without a match is "
             "answered with 404")
          .required(),
  };
  return options;
}

void check_gateway(const YamlFields& fields, GatewaySettings& gateway, LoadState& state) {
  const bool is_used = std::any_of(gateway.routes.begin(), gateway.routes.end(),
                                   [](const RouteSettings& one) { return one.domain.empty(); });
  const auto domain = fields.find("domain");
  if (!is_used && !domain) return;
  state.references.push_back({.node = domain.value_or(fields.map()),
                              .domain = gateway.domain,
                              .option = "gateway.domain",
                              .listener = "the gateway",
                              .folding = folding(gateway.paths, "gateway.paths.case")});
}

}  // namespace penstock::rules
