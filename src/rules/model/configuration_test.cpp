#include "rules/model/configuration.hpp"

#include "reference/diagnostics_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;
using reference::diagnostics_text;

Configuration loaded(std::string_view text) {
  Loaded result = load_text(text, "p.yaml");
  EXPECT_FALSE(has_error(result.diagnostics)) << diagnostics_text(result);
  EXPECT_TRUE(result.configuration.has_value());
  return result.configuration
             ? *result.configuration
             : Configuration{.settings = {}, .rules = std::make_shared<Ruleset>(), .files = {}};
}

TEST(Configuration, EmptyFileGivesTheDefaults) {
  const Loaded result = load_text("", "p.yaml");
  ASSERT_TRUE(result.configuration.has_value());
  EXPECT_EQ(result.configuration->settings.http.listen.at(0).port, 8080);
  EXPECT_EQ(result.configuration->settings.store_url, "memory://");
  EXPECT_EQ(diagnostics_text(result), "p.yaml:1:1: warning: an empty file: it limits nothing\n");
}

TEST(Configuration, ReadsEverySetting) {
  const Settings settings = loaded(R"(
server:
  listen: [0.0.0.0:80, "[::1]:81"]
  admin: off
  workers: 2
  token: secret
  tls: {certificate: a.pem, key: /etc/b.pem, client_ca: c.pem}
  max_connections: 10
  max_header_bytes: 1000
  max_body_bytes: 2000
  header_timeout: 1s
  body_timeout: 2s
  write_timeout: 3s
  idle_timeout: 4s
  shutdown_delay: 0s
  shutdown_grace: 5s
  headers: [draft-07]
  trusted_proxies: [10.0.0.0/8]
  forward_auth: {domain: api, deny_status: 403}
log: {level: debug, format: json}
store:
  url: redis://user:secret@db:7000/1
  timeout: 20ms
  key_prefix: mine
  ca_file: ca.pem
  certificate_file: cert.pem
  key_file: key.pem
  server_name: db.example
  sentinel_user: watcher
  sentinel_password: hidden
  connect_timeout: 2s
  max_waiting: 7
  breaker_failures: 8
  breaker_min_pause: 10ms
  breaker_max_pause: 20ms
  audit_interval: 1h
  max_keys: 9
  max_log_bytes: 11
  max_counters: 12
nodes: 3
)")
                                .settings;
  ASSERT_EQ(settings.http.listen.size(), 2U);
  EXPECT_EQ(settings.http.listen[1].host, "::1");
  EXPECT_EQ(settings.http.listen[1].port, 81);
  EXPECT_FALSE(settings.admin.has_value());
  EXPECT_EQ(settings.workers, 2U);
  EXPECT_EQ(settings.http.tokens, (std::vector<Token>{{.name = "token", .secret = "secret"}}));
  EXPECT_EQ(settings.http.tls->certificate, "a.pem");
  EXPECT_EQ(settings.http.tls->key, "/etc/b.pem");
  EXPECT_EQ(settings.http.tls->client_ca, "c.pem");
  EXPECT_EQ(settings.http.max_connections, 10U);
  EXPECT_EQ(settings.http.max_header_bytes, 1000U);
  EXPECT_EQ(settings.http.max_body_bytes, 2000U);
  EXPECT_EQ(settings.http.header_timeout, 1s);
  EXPECT_EQ(settings.http.body_timeout, 2s);
  EXPECT_EQ(settings.http.write_timeout, 3s);
  EXPECT_EQ(settings.http.idle_timeout, 4s);
  EXPECT_EQ(settings.shutdown_delay, 0s);
  EXPECT_EQ(settings.shutdown_grace, 5s);
  EXPECT_EQ(settings.headers, std::vector{HeaderDraft::Draft07});
  EXPECT_EQ(settings.trusted_proxies, std::vector<std::string>{"10.0.0.0/8"});
  EXPECT_EQ(settings.forward_auth.domain, "api");
  EXPECT_EQ(settings.forward_auth.deny_status, 403U);
  EXPECT_EQ(settings.log.level, LogSettings::Level::Debug);
  EXPECT_EQ(settings.log.format, LogSettings::Format::Json);
  EXPECT_EQ(settings.store_url, "redis://user:secret@db:7000/1");
  EXPECT_EQ(settings.redis.url, settings.store_url);
  EXPECT_EQ(settings.redis.timeout, 20ms);
  EXPECT_EQ(settings.redis.key_prefix, "mine");
  EXPECT_EQ(settings.redis.ca_file, "ca.pem");
  EXPECT_EQ(settings.redis.certificate_file, "cert.pem");
  EXPECT_EQ(settings.redis.key_file, "key.pem");
  EXPECT_EQ(settings.redis.server_name, "db.example");
  EXPECT_EQ(settings.redis.sentinel_user, "watcher");
  EXPECT_EQ(settings.redis.sentinel_password, "hidden");
  EXPECT_EQ(settings.redis.connect_timeout, 2s);
  EXPECT_EQ(settings.redis.max_waiting, 7U);
  EXPECT_EQ(settings.redis.breaker_failures, 8U);
  EXPECT_EQ(settings.redis.breaker_min_pause, 10ms);
  EXPECT_EQ(settings.redis.breaker_max_pause, 20ms);
  EXPECT_EQ(settings.audit_interval, 1h);
  EXPECT_EQ(settings.memory.max_keys, 9U);
  EXPECT_EQ(settings.memory.max_log_bytes, 11U);
  EXPECT_EQ(settings.memory.max_counters, 12U);
  EXPECT_EQ(settings.nodes, 3U);
}

TEST(Configuration, HeadersCanBeOff) {
  EXPECT_TRUE(loaded("server: {headers: off}").settings.headers.empty());
}

TEST(Configuration, ListenersCanHaveHeadersOfTheirOwn) {
  const auto grpc = [](const std::string& headers) {
    return loaded("grpc: {listen: \"127.0.0.1:1\", headers: " + headers + "}")
        .settings.grpc.headers;
  };
  EXPECT_EQ(grpc("true"), std::nullopt);
  EXPECT_EQ(grpc("false"), std::vector<HeaderDraft>{});
  EXPECT_EQ(grpc("off"), std::vector<HeaderDraft>{});
  EXPECT_EQ(grpc("[x-ratelimit-unix, draft-08]"),
            (std::vector{HeaderDraft::XRateLimitUnix, HeaderDraft::Draft08}));
}

TEST(Configuration, RulesInheritFromTheirDomain) {
  const Configuration configuration = loaded(R"(
domains:
  api:
    on_failure: closed
    algorithm: gcra
    shadow: true
    count_denied: true
    rules:
      - {name: a, limit: 10/s}
      - {name: b, limit: 10/s, on_failure: local, algorithm: fixed_window, shadow: false, count_denied: false}
      - {name: c, limit: 10/s burst 5}
      - name: d
        description: two at once
        limits: {fast: 10/s, slow: {limit: 100/day, algorithm: sliding_log}}
      - {name: e, limit: 10/s token_bucket, burst: 7}
      - {name: f, unlimited: yes}
)");
  const auto& rules = configuration.rules->rules();
  ASSERT_EQ(rules.size(), 6U);
  EXPECT_EQ(rules[0]->on_failure, OnFailure::Closed);
  EXPECT_TRUE(rules[0]->shadow && rules[0]->count_denied);
  EXPECT_EQ(to_string(rules[0]->limits.at(0).quota), "10/s gcra");
  EXPECT_EQ(rules[0]->metric, "api/a");
  EXPECT_EQ(rules[0]->source.line, 9U);
  EXPECT_EQ(rules[1]->on_failure, OnFailure::Local);
  EXPECT_FALSE(rules[1]->shadow || rules[1]->count_denied);
  EXPECT_EQ(to_string(rules[1]->limits.at(0).quota), "10/s fixed_window");
  EXPECT_EQ(to_string(rules[2]->limits.at(0).quota), "10/s burst 5 gcra");
  ASSERT_EQ(rules[3]->limits.size(), 2U);
  EXPECT_EQ(rules[3]->description, "two at once");
  EXPECT_EQ(rules[3]->limits[1].name, "slow");
  EXPECT_EQ(to_string(rules[3]->limits[1].quota), "100/d sliding_log");
  EXPECT_EQ(to_string(rules[4]->limits.at(0).quota), "10/s burst 7");
  EXPECT_EQ(rules[5]->action, Action::Unlimited);
  EXPECT_EQ(configuration.rules->find("api", "d"), rules[3].get());
  EXPECT_EQ(configuration.rules->find("api", "x"), nullptr);
  EXPECT_TRUE(configuration.rules->has_domain("api"));
  EXPECT_FALSE(configuration.rules->has_domain("web"));
}

TEST(Configuration, RulesInheritTheModeOfTheirDomain) {
  using core::Mode;
  using core::SharingTerms;
  const Configuration configuration = loaded(R"(
domains:
  usual: {rules: [{name: a, limit: 1/s}]}
  api:
    mode: lease
    lease_lifetime: 50ms
    share: nodes
    rules:
      - {name: a, limit: 1/s}
      - {name: b, limit: 1/s, mode: lease_strict, lease_lifetime: 10s}
      - {name: c, limit: 1/s, mode: adaptive}
      - {name: d, limit: 1/s, mode: local}
      - {name: e, limit: 1/s, mode: local, share: none}
      - {name: f, limit: 1/s sliding_log, mode: exact}
      - {name: g, unlimited: true}
)");
  const auto terms_of = [&](std::string_view domain, std::string_view rule) {
    return configuration.rules->find(domain, rule)->terms;
  };
  EXPECT_EQ(terms_of("usual", "a"), core::SharingTerms{});
  EXPECT_EQ(terms_of("api", "a"), (core::SharingTerms{.mode = Mode::Lease, .lifetime = 50ms}));
  EXPECT_EQ(terms_of("api", "b"), (core::SharingTerms{.mode = Mode::LeaseStrict, .lifetime = 10s}));
  EXPECT_EQ(terms_of("api", "c"), (core::SharingTerms{.mode = Mode::Adaptive, .lifetime = 50ms}));
  EXPECT_EQ(terms_of("api", "d"), (core::SharingTerms{.mode = Mode::Local, .divided = true}));
  EXPECT_EQ(terms_of("api", "e"), (core::SharingTerms{.mode = Mode::Local}));
  EXPECT_EQ(terms_of("api", "f"), core::SharingTerms{});
}

TEST(Configuration, AnyErrorRejectsTheWholeConfiguration) {
  const Loaded result = load_text("domains: {a: {rules: [{name: x, limit: 0/s}]}}", "p.yaml");
  EXPECT_FALSE(result.configuration.has_value());
}

}  // namespace
}  // namespace penstock::rules
