#include "reference/diagnostics_text.hpp"
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;
using reference::diagnostics_text;

constexpr std::string_view kSmall = R"(
gateway:
  listen: 127.0.0.1:8000
  upstreams: {app: {servers: "http://127.0.0.1:3000"}}
  routes: [{upstream: app}]
)";

TEST(GatewayFormat, NeedsAnAddressAnUpstreamAndARoute) {
  const Loaded loaded = load_text(kSmall, "p.yaml");
  EXPECT_FALSE(has_error(loaded.diagnostics)) << diagnostics_text(loaded);
  ASSERT_TRUE(loaded.configuration.has_value());
  const GatewaySettings& gateway = loaded.configuration->settings.gateway;
  EXPECT_EQ(gateway.domain, "default");
  ASSERT_EQ(gateway.upstreams.size(), 1U);
  EXPECT_EQ(gateway.upstreams[0].servers.at(0).port, 3000);
  EXPECT_EQ(gateway.routes.at(0).path, "/**");
  EXPECT_EQ(diagnostics_text(load_text("gateway: {}", "p.yaml")),
            "p.yaml:1:10: error: key 'listen' is missing\n"
            "p.yaml:1:10: error: key 'upstreams' is missing\n"
            "p.yaml:1:10: error: key 'routes' is missing\n");
}

TEST(GatewayFormat, ReadsEveryOption) {
  const Loaded loaded = load_text(R"(
gateway:
  listen: [127.0.0.1:1, 127.0.0.1:2]
  domain: d
  max_connections: 3
  max_streams: 4
  max_header_bytes: 5000
  header_timeout: 6s
  body_timeout: 7s
  write_timeout: 8s
  idle_timeout: 9s
  tunnel_timeout: 10s
  max_in_flight: {key: header.x-key, limit: 11, shared: true, lease: 7s}
  access_log: {format: json, path: access.log}
  upstreams:
    a: {servers: [http://a.internal, "http://[::1]:81/"], max_in_flight: 12, keepalive: 13,
        keepalive_timeout: 14s, connect_timeout: 15s, first_byte_timeout: 16s, read_timeout: 17s,
        write_timeout: 18s, health: {path: /up, interval: 19s, timeout: 20s, healthy: 21,
        unhealthy: 22, pause: 23s}}
    b: {servers: http://127.0.0.1:82}
  routes: [{host: "*.Example.com", path: /v1/**, upstream: b, domain: e, strip_prefix: /v1}]
)",
                                  "/etc/p.yaml");
  EXPECT_FALSE(has_error(loaded.diagnostics)) << diagnostics_text(loaded);
  ASSERT_TRUE(loaded.configuration.has_value());
  const GatewaySettings& gateway = loaded.configuration->settings.gateway;
  EXPECT_EQ(gateway.listen.size(), 2U);
  EXPECT_EQ(gateway.max_connections, 3U);
  EXPECT_EQ(gateway.max_streams, 4U);
  EXPECT_EQ(gateway.max_header_bytes, 5000U);
  EXPECT_EQ(gateway.header_timeout, 6s);
  EXPECT_EQ(gateway.body_timeout, 7s);
  EXPECT_EQ(gateway.write_timeout, 8s);
  EXPECT_EQ(gateway.idle_timeout, 9s);
  EXPECT_EQ(gateway.tunnel_timeout, 10s);
  EXPECT_EQ(gateway.max_in_flight.key, "header.x-key");
  EXPECT_EQ(gateway.max_in_flight.limit, 11U);
  EXPECT_TRUE(gateway.max_in_flight.shared);
  EXPECT_EQ(gateway.max_in_flight.lease, std::chrono::seconds{7});
  EXPECT_EQ(gateway.access_log.format, AccessLogSettings::Format::Json);
  EXPECT_EQ(gateway.access_log.path, "/etc/access.log");
  const UpstreamSettings& a = gateway.upstreams.at(0);
  EXPECT_EQ(a.servers.at(0).host, "a.internal");
  EXPECT_EQ(a.servers.at(0).port, 80);
  EXPECT_EQ(a.servers.at(1).host, "::1");
  EXPECT_EQ(a.servers.at(1).port, 81);
  EXPECT_EQ(a.max_in_flight, 12U);
  EXPECT_EQ(a.keepalive, 13U);
  EXPECT_EQ(a.keepalive_timeout, 14s);
  EXPECT_EQ(a.connect_timeout, 15s);
  EXPECT_EQ(a.first_byte_timeout, 16s);
  EXPECT_EQ(a.read_timeout, 17s);
  EXPECT_EQ(a.write_timeout, 18s);
  EXPECT_EQ(a.health.path, "/up");
  EXPECT_EQ(a.health.interval, 19s);
  EXPECT_EQ(a.health.timeout, 20s);
  EXPECT_EQ(a.health.healthy, 21U);
  EXPECT_EQ(a.health.unhealthy, 22U);
  EXPECT_EQ(a.health.pause, 23s);
  const RouteSettings& route = gateway.routes.at(0);
  EXPECT_EQ(route.host, "*.example.com");
  EXPECT_EQ(route.path, "/v1/**");
  EXPECT_EQ(route.upstream, 1U);
  EXPECT_EQ(route.domain, "e");
  EXPECT_EQ(route.strip_prefix, "/v1");
}

TEST(GatewayFormat, ReadsHowRequestsAreNormalized) {
  const Loaded loaded = load_text(std::string(kSmall) + R"(
  min_upload_rate: 1
  min_download_rate: 0
  paths: {merge_slashes: false, escaped_slashes: decode, backslashes: slash, parameters: keep, case: insensitive}
  headers_with_underscores: allow
  forward_request_trailers: true
  headers: x-ratelimit-unix
server: {forward_auth: {paths: {escaped_slashes: reject}}}
domains: {default: {rules: [{name: all, limit: 5/m}]}}
)",
                                  "p.yaml");
  EXPECT_EQ(diagnostics_text(loaded), "");
  ASSERT_TRUE(loaded.configuration.has_value());
  const Settings& settings = loaded.configuration->settings;
  const GatewaySettings& gateway = settings.gateway;
  EXPECT_EQ(gateway.min_upload_rate, 1U);
  EXPECT_EQ(gateway.min_download_rate, 0U);
  EXPECT_EQ(gateway.paths, (PathSettings{.merge_slashes = false,
                                         .escaped_slashes = PathSettings::EscapedSlashes::Decode,
                                         .backslashes = PathSettings::Backslashes::Slash,
                                         .parameters = PathSettings::Parameters::Keep,
                                         .letter_case = PathSettings::LetterCase::Insensitive}));
  EXPECT_EQ(gateway.headers_with_underscores, Underscores::Allow);
  EXPECT_TRUE(gateway.forward_request_trailers);
  EXPECT_EQ(gateway.headers, std::vector{HeaderDraft::XRateLimitUnix});
  EXPECT_EQ(settings.forward_auth.paths.escaped_slashes, PathSettings::EscapedSlashes::Reject);
  EXPECT_EQ(settings.forward_auth.paths.backslashes, PathSettings::Backslashes::Keep);
}

TEST(GatewayFormat, NamesWhatCannotBeUsed) {
  const Loaded loaded = load_text(R"(gateway:
  listen: 127.0.0.1:1
  upstreams:
    a: {servers: [https://a.internal, 127.0.0.1:80, http://a/b], health: {path: up}}
  routes: [{host: "a.*.com", upstream: b, strip_prefix: /v1/}]
)",
                                  "p.yaml");
  EXPECT_EQ(diagnostics_text(loaded),
            "p.yaml:4:19: error: servers: expected a server such as http://127.0.0.1:3000, found "
            "\"https://a.internal\"\n"
            "p.yaml:4:39: error: servers: expected a server such as http://127.0.0.1:3000, found "
            "\"127.0.0.1:80\"\n"
            "p.yaml:4:53: error: servers: expected a server such as http://127.0.0.1:3000, found "
            "\"http://a/b\"\n"
            "p.yaml:4:74: error: health: path \"up\" does not begin with a slash\n"
            "p.yaml:5:19: error: host: expected a name such as api.example.com or *.example.com, "
            "without port, found \"a.*.com\"\n"
            "p.yaml:5:40: error: upstream: no upstream is called \"b\"\n"
            "p.yaml:5:57: error: strip_prefix: expected a prefix such as /api, without a slash at "
            "its end, found \"/v1/\"\n");
}

}  // namespace
}  // namespace penstock::rules
