#include "rules/settings/settings_format.hpp"

#include "base/ip_address.hpp"
#include "core/duration_text.hpp"
#include "rules/settings/known_keys.hpp"
#include "rules/settings/listen_format.hpp"
#include "rules/settings/paths_format.hpp"
#include "rules/yaml/scalar_fields.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMaxStoreBytes = std::int64_t{1} << 30U;
constexpr std::int64_t kMaxKept = 1'000'000'000;

void read_listen(const YamlFields& fields, Settings& settings) {
  read_addresses(fields, settings.http.listen);
  if (const auto admin = fields.find("admin")) {
    settings.admin = admin->raw() == "off" ? std::nullopt : read_address(*admin);
  }
}

void read_headers(const YamlFields& fields, Settings& settings) {
  const auto node = fields.find("headers");
  if (!node) return;
  settings.headers.clear();
  for (const YamlNode& one : node->one_or_list()) {
    const auto draft = one.choice<HeaderDraft>({{"off", HeaderDraft::Off},
                                                {"x-ratelimit", HeaderDraft::XRateLimit},
                                                {"draft-06", HeaderDraft::Draft06},
                                                {"draft-07", HeaderDraft::Draft07},
                                                {"draft-08", HeaderDraft::Draft08}});
    if (!draft) continue;
    if (node->is_list() && *draft == HeaderDraft::Off) {
      one.error("headers: off stands alone, not in a list");
    } else if (*draft != HeaderDraft::Off) {
      settings.headers.push_back(*draft);
    }
  }
}

// Shorter prefixes than any operator of proxies has: 10.0.0.0/8 and fc00::/7 are the largest.
void warn_of_wide_trust(const YamlNode& node, const base::IpNetwork& network) {
  const unsigned least = network.address.is_v4() ? 8 : 7;
  if (network.prefix >= least) return;
  node.warning("trusted_proxies: " + quote_value(node.raw()) +
               " trusts clients too: each can choose its own client_ip with X-Forwarded-For, and "
               "limits by address limit nothing");
}

void read_trusted_proxies(const YamlFields& fields, Settings& settings) {
  const auto node = fields.find("trusted_proxies");
  if (!node) return;
  settings.trusted_proxies.clear();
  for (const YamlNode& one : node->one_or_list()) {
    if (!one.is_text() || !base::IpNetwork::parse(one.raw())) {
      one.expected("a network such as 10.0.0.0/8 or 2001:db8::/32");
      continue;
    }
    warn_of_wide_trust(one, *base::IpNetwork::parse(one.raw()));
    settings.trusted_proxies.emplace_back(one.raw());
  }
}

void read_forward_auth(const YamlFields& fields, LoadState& state) {
  ForwardAuthSettings& settings = state.settings.forward_auth;
  const auto section = fields.find("forward_auth");
  if (!section) return;
  const YamlFields forward(*section, keys::kForwardAuth);
  read_text(forward, "domain", settings.domain);
  read_number(forward, "deny_status", 400, 599, settings.deny_status);
  read_paths(forward, settings.paths);
  state.references.push_back({.node = forward.find("domain").value_or(*section),
                              .domain = settings.domain,
                              .option = "forward_auth.domain",
                              .listener = "forward_auth",
                              .folding = folding(settings.paths, "forward_auth.paths.case")});
}

bool is_store_url(std::string_view url) {
  constexpr std::array kSchemes{"redis://",          "rediss://",          "redis+unix://",
                                "redis-sentinel://", "rediss-sentinel://", "redis-cluster://",
                                "rediss-cluster://"};
  return url == "memory://" || std::any_of(kSchemes.begin(), kSchemes.end(),
                                           [&](auto scheme) { return url.starts_with(scheme); });
}

void read_breaker(const YamlFields& fields, RedisOptions& redis) {
  read_number(fields, "breaker_failures", 1, 1'000'000, redis.breaker_failures);
  read_duration(fields, "breaker_min_pause", kMaxTimeout, redis.breaker_min_pause);
  read_duration(fields, "breaker_max_pause", kMaxTimeout, redis.breaker_max_pause);
  if (redis.breaker_min_pause > redis.breaker_max_pause) {
    fields.map().error("store: breaker_min_pause " + core::duration_text(redis.breaker_min_pause) +
                       " is above breaker_max_pause " +
                       core::duration_text(redis.breaker_max_pause));
  }
}

void read_audit(const YamlFields& fields, Settings& settings) {
  const auto node = fields.find("audit_interval");
  if (!node) return;
  if (node->raw() == "off") {
    settings.audit_interval.reset();
  } else if (const auto value = node->duration(1s, 7 * 24h)) {
    settings.audit_interval = *value;
  }
}

}  // namespace

void load_server(const YamlNode& section, LoadState& state) {
  const YamlFields fields(section, keys::kServer);
  HttpSettings& http = state.settings.http;
  read_listen(fields, state.settings);
  read_number(fields, "workers", 0, 1024, state.settings.workers);
  read_secrets(fields, "token", "token_file", state, http.tokens);
  read_tls(fields, http.tls);
  read_number(fields, "max_connections", 1, 10'000'000, http.max_connections);
  read_number(fields, "max_connections_per_address", 0, 10'000'000,
              state.settings.max_connections_per_address);
  read_number(fields, "max_header_bytes", 256, kMaxStoreBytes, http.max_header_bytes);
  read_number(fields, "max_body_bytes", 0, kMaxStoreBytes, http.max_body_bytes);
  read_duration(fields, "header_timeout", kMaxTimeout, http.header_timeout);
  read_duration(fields, "body_timeout", kMaxTimeout, http.body_timeout);
  read_duration(fields, "write_timeout", kMaxTimeout, http.write_timeout);
  read_duration(fields, "idle_timeout", kMaxTimeout, http.idle_timeout);
  if (const auto delay = fields.find("shutdown_delay")) {
    if (const auto value = delay->duration(0s, kMaxTimeout)) state.settings.shutdown_delay = *value;
  }
  read_duration(fields, "shutdown_grace", kMaxTimeout, state.settings.shutdown_grace);
  read_headers(fields, state.settings);
  read_trusted_proxies(fields, state.settings);
  read_forward_auth(fields, state);
}

void load_log(const YamlNode& section, Settings& settings) {
  const YamlFields fields(section, keys::kLog);
  if (const auto level = fields.find("level")) {
    const auto chosen = level->choice<LogSettings::Level>({{"debug", LogSettings::Level::Debug},
                                                           {"info", LogSettings::Level::Info},
                                                           {"warning", LogSettings::Level::Warning},
                                                           {"error", LogSettings::Level::Error}});
    if (chosen) settings.log.level = *chosen;
  }
  if (const auto format = fields.find("format")) {
    const auto chosen = format->choice<LogSettings::Format>(
        {{"text", LogSettings::Format::Text}, {"json", LogSettings::Format::Json}});
    if (chosen) settings.log.format = *chosen;
  }
}

void load_store(const YamlNode& section, LoadState& state) {
  const YamlFields fields(section, keys::kStore);
  Settings& settings = state.settings;
  RedisOptions& redis = settings.redis;
  read_secret(fields, "url", "url_file", state, settings.store_url);
  if (!is_store_url(settings.store_url)) {
    // Never shown: it may hold a password.
    const auto node = fields.find("url");
    (node ? *node : fields.map())
        .error(
            "url: expected memory://, redis://, rediss://, redis+unix://, redis-sentinel:// or "
            "redis-cluster:// at its beginning");
  }
  if (settings.store_url != "memory://") redis.url = settings.store_url;
  read_duration(fields, "timeout", 1min, redis.timeout);
  read_text(fields, "key_prefix", redis.key_prefix);
  read_path(fields, "ca_file", redis.ca_file);
  read_path(fields, "certificate_file", redis.certificate_file);
  read_path(fields, "key_file", redis.key_file);
  read_text(fields, "server_name", redis.server_name);
  read_text(fields, "sentinel_user", redis.sentinel_user);
  read_text(fields, "sentinel_password", redis.sentinel_password);
  read_duration(fields, "connect_timeout", 1min, redis.connect_timeout);
  read_number(fields, "max_waiting", 1, 10'000'000, redis.max_waiting);
  read_breaker(fields, redis);
  read_audit(fields, settings);
  read_number(fields, "max_keys", 1, kMaxKept, settings.memory.max_keys);
  read_number(fields, "max_log_bytes", 0, std::int64_t{1} << 40U, settings.memory.max_log_bytes);
  read_number(fields, "max_counters", 0, kMaxKept, settings.memory.max_counters);
}

void load_request_limits(const YamlNode& section, Settings& settings) {
  const YamlFields fields(section, keys::kRequestLimits);
  const auto node = fields.find("on_failure");
  if (!node) return;
  const auto chosen = node->choice<std::optional<OnFailure>>({{"error", std::nullopt},
                                                              {"open", OnFailure::Open},
                                                              {"closed", OnFailure::Closed},
                                                              {"local", OnFailure::Local}});
  if (chosen) settings.request_limits.on_failure = *chosen;
}

void load_unknown_domain(const YamlNode& value, LoadState& state) {
  const auto chosen =
      value.choice<UnknownDomain>({{"allow", UnknownDomain::Allow}, {"deny", UnknownDomain::Deny}});
  if (chosen) state.builder.set_unknown_domain(*chosen);
}

void load_nodes(const YamlNode& value, Settings& settings) {
  if (value.raw() == "auto") {
    settings.nodes = 0;
    return;
  }
  const std::string expected = "auto or a whole number from 1 to 10000";
  std::int64_t count = 0;
  const std::string_view raw = value.raw();
  const auto [stop, failure] = std::from_chars(raw.data(), raw.data() + raw.size(), count);
  if (failure != std::errc{} || stop != raw.data() + raw.size() || count < 1 || count > 10'000) {
    return value.expected(expected);
  }
  settings.nodes = static_cast<unsigned>(count);
}

}  // namespace penstock::rules
