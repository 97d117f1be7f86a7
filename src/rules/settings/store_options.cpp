#include "base/text.hpp"
#include "rules/settings/section_options.hpp"

#include <algorithm>
#include <array>

// The rows of `log`, `store`, `request_limits`, and of the whole file.
namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMaxKept = 1'000'000'000;
constexpr std::int64_t kMaxLogBytes = std::int64_t{1} << 40U;

// Why some settings take a restart:
constexpr std::string_view kUsageStays = "usage stays in the old store";
constexpr std::string_view kAllocated = "the tables are allocated at startup";

bool is_store_url(std::string_view url) {
  constexpr std::array kSchemes{"redis://",          "rediss://",          "redis+unix://",
                                "redis-sentinel://", "rediss-sentinel://", "redis-cluster://",
                                "rediss-cluster://"};
  return url == kMemoryStoreUrl || std::any_of(kSchemes.begin(), kSchemes.end(), [&](auto scheme) {
           return url.starts_with(scheme);
         });
}

void read_url_file(const OptionValue& value, Settings& settings) {
  if (auto url = read_secret_file(value, "url")) settings.store_url = *std::move(url);
}

void read_audit_interval(const OptionValue& value, Settings& settings) {
  if (value.node.raw() == "off") {
    settings.audit_interval.reset();
  } else if (const auto interval = value.node.duration(1s, 7 * 24h)) {
    settings.audit_interval = *interval;
  }
}

void read_nodes(const OptionValue& value, Settings& settings) {
  const std::string_view raw = value.node.raw();
  if (raw == "auto") {
    settings.nodes = 0;
    return;
  }
  const auto count = base::parse_number<unsigned>(raw);
  if (!count || *count < 1 || *count > 10'000) {
    return value.node.expected("auto or a whole number from 1 to 10000");
  }
  settings.nodes = *count;
}

void read_on_failure(const OptionValue& value, RequestLimitSettings& limits) {
  const auto chosen = value.node.choice<std::optional<OnFailure>>({{"error", std::nullopt},
                                                                   {"open", OnFailure::Open},
                                                                   {"closed", OnFailure::Closed},
                                                                   {"local", OnFailure::Local}});
  if (chosen) limits.on_failure = *chosen;
}

void read_unknown_domain(const OptionValue& value, Settings&) {
  const auto chosen = value.node.choice<UnknownDomain>(
      {{"allow", UnknownDomain::Allow}, {"deny", UnknownDomain::Deny}});
  if (chosen) value.state.builder.set_unknown_domain(*chosen);
}

void read_maps(const OptionValue& value, Settings&) {
  value.state.maps.load(value.node, value.state.files);
}

void read_domains(const OptionValue& value, Settings&) {
  value.state.domains.push_back(value.node);
}

// A part of the file that is not in Settings: rules and maps, which every reload replaces.
Option<Settings> rules_part(std::string_view key, void (*read)(const OptionValue&, Settings&),
                            std::string_view default_text, std::string_view help) {
  return {.key = key, .help = help, .default_text = std::string(default_text), .read = read};
}

// A section that is read into Settings itself.
Option<Settings> own_section(std::string_view key, const Options<Settings>& options,
                             Check<Settings> check, std::string_view help) {
  Option<Settings> option{.key = key, .help = help, .default_text = "see below", .parts = options};
  option.read = [&options, check](const OptionValue& value, Settings& settings) {
    const YamlFields fields = read_section(value.node, options, settings, value.state);
    if (check != nullptr) check(fields, settings, value.state);
  };
  return option;
}

}  // namespace

const Options<LogSettings>& log_options() {
  using S = LogSettings;
  static const Options<S> options{
      word("level", &S::level,
           {{"debug", S::Level::Debug},
            {"info", S::Level::Info},
            {"warning", S::Level::Warning},
            {"error", S::Level::Error}},
           "`debug`, `info`, `warning` or `error`"),
      word("format", &S::format, {{"text", S::Format::Text}, {"json", S::Format::Json}},
           "`text` or `json`"),
  };
  return options;
}

const Options<Settings>& store_options() {
  using S = Settings;
  using Redis = RedisOptions;
  using Memory = MemoryOptions;
  static const Options<S> options{
      text("url", &S::store_url,
           "`memory://`, `redis://[user:password@]host[:port][/database]`, `rediss://`, "
           "`redis+unix:///path`, `redis-sentinel://host,host/name`, `redis-cluster://host,host`; "
           "the last two with `rediss-` over TLS. A new user or password of the same server takes "
           "effect on reload")
          .sampled("redis://127.0.0.1:7")
          .needs_restart(kUsageStays),
      {.key = "url_file",
       .help = "file that contains the URL; replaces `url`",
       .restart_reason = kUsageStays,
       .default_text = "none",
       .read = read_url_file},
      of(&S::redis, duration("timeout", &Redis::timeout, 1min,
                             "for one call, retries included, up to `1m`; then `on_failure` "
                             "decides")),
      of(&S::redis, text("key_prefix", &Redis::key_prefix, "first part of every key in Redis")
                        .needs_restart("usage stays under the old keys")),
      of(&S::redis, file("ca_file", &Redis::ca_file,
                         "PEM file of the authorities that sign Redis' certificate")
                        .by_default("the system's")),
      of(&S::redis, file("certificate_file", &Redis::certificate_file,
                         "PEM file with the client certificate")),
      of(&S::redis, file("key_file", &Redis::key_file, "PEM file with its private key")),
      of(&S::redis, text("server_name", &Redis::server_name, "name to expect in the certificate")
                        .by_default("the host")),
      of(&S::redis, text("sentinel_user", &Redis::sentinel_user,
                         "user name for the sentinels, when it is another")
                        .by_default("as the servers")),
      of(&S::redis, text("sentinel_password", &Redis::sentinel_password, "their password")
                        .by_default("as the servers")),
      of(&S::redis, duration("connect_timeout", &Redis::connect_timeout, 1min,
                             "for a new connection, up to `1m`")),
      of(&S::redis, number("max_waiting", &Redis::max_waiting, {1, 10'000'000},
                           "calls that may wait for a reply; more fail at once")),
      of(&S::redis, number("breaker_failures", &Redis::breaker_failures, {1, 1'000'000},
                           "consecutive failures after which the circuit breaker of a server "
                           "opens")),
      of(&S::redis, duration("breaker_min_pause", &Redis::breaker_min_pause, kMaxTimeout,
                             "the first pause of an open breaker; each failure doubles it")),
      of(&S::redis, duration("breaker_max_pause", &Redis::breaker_max_pause, kMaxTimeout,
                             "the longest pause")),
      custom("audit_interval", &S::audit_interval, "off", read_audit_interval,
             "how often one of the daemons [scans all keys](../how-to/operations.md#orphan-keys) "
             "in Redis, from `1s` to `7d`; or `off`")
          .by_default("`10m`"),
      of(&S::memory, number("max_keys", &Memory::max_keys, {1, kMaxKept},
                            "keys of the memory store, about 42 bytes each")
                         .needs_restart(kAllocated)),
      of(&S::memory, number("max_log_bytes", &Memory::max_log_bytes, {0, kMaxLogBytes},
                            "additional memory of the memory store for the sliding log and "
                            "sub-windows")
                         .needs_restart(kAllocated)),
      of(&S::memory, number("max_counters", &Memory::max_counters, {0, kMaxKept},
                            "counters of the memory store")
                         .needs_restart(kAllocated)),
  };
  return options;
}

void check_store(const YamlFields& fields, Settings& settings, LoadState&) {
  if (!is_store_url(settings.store_url)) {
    // Never shown: it may contain a password.
    fields.find("url")
        .value_or(fields.map())
        .error(
            "url: expected memory://, redis://, rediss://, redis+unix://, redis-sentinel:// or "
            "redis-cluster:// at its beginning");
  }
  RedisOptions& redis = settings.redis;
  if (!settings.uses_memory_store()) redis.url = settings.store_url;
  if (redis.breaker_min_pause > redis.breaker_max_pause) {
    fields.map().error("store: breaker_min_pause " + core::duration_text(redis.breaker_min_pause) +
                       " is above breaker_max_pause " +
                       core::duration_text(redis.breaker_max_pause));
  }
}

const Options<RequestLimitSettings>& request_limit_options() {
  using S = RequestLimitSettings;
  static const Options<S> options{
      custom("on_failure", &S::on_failure, "local", read_on_failure,
             "when the store is unavailable: `error`, or `open`, `closed` or `local` as for rules. "
             "`on_failure` in the body of an HTTP call takes precedence. Over HTTP `error` is the "
             "same as `closed`: 503")
          .by_default("`error`"),
  };
  return options;
}

const Options<Settings>& top_options() {
  using S = Settings;
  static const Options<S> options{
      own_section("server", server_options(), check_tokens,
                  "the HTTP listener of the daemon, and settings of all listeners"),
      section("grpc", &S::grpc, grpc_options(), check_grpc, "the gRPC listener, for Envoy")
          .by_default("off"),
      section("resp", &S::resp, resp_options(), nullptr, "the RESP listener").by_default("off"),
      section("gateway", &S::gateway, gateway_options(), check_gateway, "the reverse proxy")
          .by_default("off"),
      section("log", &S::log, log_options(), nullptr, "level and format of the log"),
      own_section("store", store_options(), check_store, "where the state of limits is stored")
          .by_default("in the process"),
      section("request_limits", &S::request_limits, request_limit_options(), nullptr,
              "limits that are sent with the request"),
      custom("nodes", &S::nodes, "3", read_nodes,
             "daemons that share a limit while the store is unavailable (`on_failure: local`): 1 "
             "to 10000, or `auto`: counted by heartbeat")
          .by_default("`auto`"),
      rules_part("unknown_domain", read_unknown_domain, "`allow`",
                 "answer to a request for a domain without rules: `allow` or `deny` (403 over "
                 "HTTP, `OVER_LIMIT` over gRPC). Counted in "
                 "`penstock_unknown_domain_requests_total` and logged, once a second by each "
                 "worker"),
      rules_part("maps", read_maps, "none", "tables that rules look up values in"),
      rules_part("domains", read_domains, "none", "the rules"),
  };
  return options;
}

}  // namespace penstock::rules
