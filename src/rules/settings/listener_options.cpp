#include "base/ip_address.hpp"
#include "rules/settings/section_options.hpp"

// The rows of `server`, `grpc` and `resp`.
namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30U;
constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 40U;
// The usual limit of gRPC. Requests are small, and a compressed one may inflate to this.
constexpr std::int64_t kMaxGrpcBytes = std::int64_t{4} << 20U;

void read_admin(const OptionValue& value, Settings& settings) {
  settings.admin = value.node.raw() == "off" ? std::nullopt : read_address(value.node);
}

void read_shutdown_delay(const OptionValue& value, Settings& settings) {
  if (const auto delay = value.node.duration(0s, kMaxTimeout)) settings.shutdown_delay = *delay;
}

void read_server_headers(const OptionValue& value, Settings& settings) {
  settings.headers = read_headers(value.node);
}

void read_grpc_headers(const OptionValue& value, GrpcSettings& grpc) {
  const std::string_view given = value.node.raw();
  if (given == "true") {
    grpc.headers.reset();
  } else if (given == "false") {
    grpc.headers.emplace();
  } else {
    grpc.headers = read_headers(value.node);
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

void read_trusted_proxies(const OptionValue& value, Settings& settings) {
  settings.trusted_proxies.clear();
  for (const YamlNode& one : value.node.one_or_list()) {
    const auto network = one.is_text() ? base::IpNetwork::parse(one.raw()) : std::nullopt;
    if (!network) {
      one.expected("a network such as 10.0.0.0/8 or 2001:db8::/32");
      continue;
    }
    warn_of_wide_trust(one, *network);
    settings.trusted_proxies.emplace_back(one.raw());
  }
}

void check_forward_auth(const YamlFields& fields, ForwardAuthSettings& settings, LoadState& state) {
  state.references.push_back({.node = fields.find("domain").value_or(fields.map()),
                              .domain = settings.domain,
                              .option = "forward_auth.domain",
                              .listener = "forward_auth",
                              .folding = folding(settings.paths, "forward_auth.paths.case")});
}

}  // namespace

const Options<TlsFiles>& tls_options() {
  using S = TlsFiles;
  static const Options<S> options{
      file("certificate", &S::certificate, "PEM file with the certificate and its chain")
          .required(),
      file("key", &S::key, "PEM file with the private key").required(),
      file("client_ca", &S::client_ca,
           "PEM file: clients must present a certificate of this authority"),
  };
  return options;
}

const Options<PathSettings>& path_options() {
  using S = PathSettings;
  static const Options<S> options{
      flag("merge_slashes", &S::merge_slashes, "`//a///b` becomes `/a/b`"),
      word("escaped_slashes", &S::escaped_slashes,
           {{"reject", S::EscapedSlashes::Reject},
            {"keep", S::EscapedSlashes::Keep},
            {"decode", S::EscapedSlashes::Decode}},
           "`%2F`: `reject` (400), `keep`, or `decode` to a slash"),
      word("backslashes", &S::backslashes,
           {{"reject", S::Backslashes::Reject},
            {"keep", S::Backslashes::Keep},
            {"slash", S::Backslashes::Slash}},
           "`\\` and `%5C`: `reject` (400), `keep` as `%5C`, or `slash`"),
      word("parameters", &S::parameters,
           {{"ignore", S::Parameters::Ignore},
            {"reject", S::Parameters::Reject},
            {"keep", S::Parameters::Keep}},
           "`/login;x=1`: `ignore` (rules see `/login`, the upstream gets all of it), `reject` "
           "(400) or `keep` (rules see it too)"),
      word("case", &S::letter_case,
           {{"sensitive", S::LetterCase::Sensitive}, {"insensitive", S::LetterCase::Insensitive}},
           "`sensitive`, or `insensitive`: rules and routes see the path in lower case. `path` and "
           "`strip_prefix` of routes may be in any case. Write what rules and maps compare in "
           "lower case: `validate` warns of `path` conditions with upper-case letters"),
  };
  return options;
}

const Options<ForwardAuthSettings>& forward_auth_options() {
  using S = ForwardAuthSettings;
  static const Options<S> options{
      text("domain", &S::domain, "the domain of its requests"),
      number("deny_status", &S::deny_status, {400, 599},
             "status of a denial, 400 to 599; nginx understands 403 only"),
      section("paths", &S::paths, path_options(), nullptr,
              "how the path that the proxy sends is normalized before rules see it; keys [as in "
              "`gateway.paths`](#gateway)")
          .by_default(
              "as there, but `escaped_slashes: keep` and `backslashes: keep`, because the proxy "
              "forwards the path"),
  };
  return options;
}

const Options<Settings>& server_options() {
  using S = Settings;
  using Http = HttpSettings;
  static const Options<S> options{
      of(&S::http, listen(&Http::listen,
                          "address of the HTTP API: `host:port`, `[IPv6]:port`, or "
                          "a list")
                       .by_default("`127.0.0.1:8080`")),
      custom(
          "admin", &S::admin, "off", read_admin,
          "address of the operator's page, metrics and health, or `off`; beyond loopback it needs a "
          "token, except for metrics and health")
          .by_default("`127.0.0.1:9090`"),
      number("workers", &S::workers, {0, 1024}, "threads that serve, 0 to 1024; 0 is one per core")
          .needs_restart("each thread binds the ports"),
      of(&S::http, token_option()),
      of(&S::http, tokens_option()),
      of(&S::http, token_file_option()),
      of(&S::http, tls(&Http::tls, "serve over TLS")),
      of(&S::http, number("max_connections", &Http::max_connections, {1, kMaxConnections},
                          "more connections are answered with 503; divided evenly among the "
                          "workers")),
      number("max_connections_per_address", &S::max_connections_per_address, {0, kMaxConnections},
             "connections from one IP address (IPv6: one /64) to each listener, all workers "
             "together; more are closed at once. Loopback and `trusted_proxies` are exempt; 0: no "
             "limit"),
      of(&S::http, number("max_header_bytes", &Http::max_header_bytes, {256, kMaxBytes},
                          "headers of one request, at least 256")),
      of(&S::http,
         number("max_body_bytes", &Http::max_body_bytes, {0, kMaxBytes}, "body of one request")),
      of(&S::http, duration("header_timeout", &Http::header_timeout, kMaxTimeout,
                            "from the first byte to the end of the headers; on the gRPC listener, "
                            "for the HTTP/2 handshake (preface and SETTINGS) and for each header "
                            "block")),
      of(&S::http, duration("body_timeout", &Http::body_timeout, kMaxTimeout,
                            "for the body, and for the message of a gRPC call")),
      of(&S::http, duration("write_timeout", &Http::write_timeout, kMaxTimeout,
                            "for a client to read its response")),
      of(&S::http, duration("idle_timeout", &Http::idle_timeout, kMaxTimeout,
                            "between two requests of a connection")),
      custom("shutdown_delay", &S::shutdown_delay, "7s", read_shutdown_delay,
             "after SIGTERM: how long the daemon is [not ready but still "
             "serves](../how-to/operations.md#rolling-restarts), from `0s`; `--shutdown-delay` "
             "takes precedence")
          .by_default("`5s`; `0s` from a terminal"),
      duration("shutdown_grace", &S::shutdown_grace, kMaxTimeout,
               "after that: for requests in flight"),
      custom("headers", &S::headers, "draft-07", read_server_headers,
             "[rate limit headers](headers.md) in responses: `x-ratelimit`, `x-ratelimit-unix`, "
             "`draft-06`, `draft-07`, `draft-08`, one or a list, or `off`")
          .by_default("`[x-ratelimit, draft-08]`"),
      custom("trusted_proxies", &S::trusted_proxies, "10.0.0.0/8", read_trusted_proxies,
             "networks whose `X-Forwarded-For` is trusted"),
      section("forward_auth", &S::forward_auth, forward_auth_options(), check_forward_auth,
              "for proxies that send a check before they forward"),
  };
  return options;
}

const Options<GrpcSettings>& grpc_options() {
  using S = GrpcSettings;
  static const Options<S> options{
      listen(&S::listen, "`host:port`, or a list").required(),
      tls(&S::tls, "serve over TLS; keys as in `server.tls`"),
      number("max_connections", &S::max_connections, {1, kMaxConnections},
             "more connections are closed; divided evenly among the workers"),
      number("max_streams", &S::max_streams, {1, 1'000'000}, "concurrent calls of one connection"),
      number("max_message_bytes", &S::max_message_bytes, {256, kMaxGrpcBytes},
             "one request, inflated where it is compressed; at most 4 MiB"),
      number("max_connection_buffer_bytes", &S::max_connection_buffer_bytes, {4096, kMaxBytes},
             "memory for the messages of one connection's calls; a call that needs more fails with "
             "`RESOURCE_EXHAUSTED`, the others go on. At least twice `max_message_bytes`"),
      number("max_buffer_bytes", &S::max_buffer_bytes, {4096, kMaxBufferBytes},
             "the same for all connections; divided evenly among the workers"),
      duration("idle_timeout", &S::idle_timeout, kMaxTimeout,
               "idle connections receive GOAWAY; pings do not count as activity"),
      duration("min_ping_interval", &S::min_ping_interval, kMaxTimeout,
               "clients that ping more often on a connection without a call receive GOAWAY "
               "(`too_many_pings`)"),
      word(
          "refunds", &S::refunds,
          {{"auto", GrpcRefunds::Auto}, {"allow", GrpcRefunds::Allow}, {"deny", GrpcRefunds::Deny}},
          "whether `is_negative_hits` refunds: `auto` (clients on loopback, and all clients where "
          "`tls.client_ca` is set), `allow`, `deny`. An ignored refund is a peek"),
      custom("headers", &S::headers, "draft-07", read_grpc_headers,
             "rate limit headers in responses, for Envoy to add: `true` for those of "
             "`server.headers`, `false` for none, or other ones as in `server.headers`")
          .by_default("`true`"),
      flag("dynamic_metadata", &S::dynamic_metadata,
           "return the descriptors, for Envoy's access log, and the `metadata` of the rules that "
           "matched"),
  };
  return options;
}

void check_grpc(const YamlFields& fields, GrpcSettings& grpc, LoadState&) {
  // A compressed message is held twice: as received and inflated.
  if (grpc.max_connection_buffer_bytes < 2 * grpc.max_message_bytes) {
    fields.map().error(
        "grpc: max_connection_buffer_bytes " + std::to_string(grpc.max_connection_buffer_bytes) +
        " is less than twice max_message_bytes " + std::to_string(grpc.max_message_bytes));
  }
  if (grpc.max_buffer_bytes < grpc.max_connection_buffer_bytes) {
    fields.map().error("grpc: max_buffer_bytes " + std::to_string(grpc.max_buffer_bytes) +
                       " is less than max_connection_buffer_bytes " +
                       std::to_string(grpc.max_connection_buffer_bytes));
  }
}

const Options<RespSettings>& resp_options() {
  using S = RespSettings;
  static const Options<S> options{
      listen(&S::listen, "`host:port`, or a list").required(),
      tls(&S::tls, "serve over TLS; keys as in `server.tls`"),
      secrets("password", &S::passwords,
              "password for `AUTH`, required unless the listener is on loopback only; or a list of "
              "valid passwords"),
      secrets_file("password_file", "password", &S::passwords,
                   "file that contains the password, or several, one per line; replaces "
                   "`password`"),
      number("max_connections", &S::max_connections, {1, kMaxConnections},
             "more connections receive an error and are closed; divided evenly among the workers"),
      number("max_request_bytes", &S::max_request_bytes, {256, kMaxBytes}, "one command"),
      duration("idle_timeout", &S::idle_timeout, kMaxTimeout, "between two commands"),
  };
  return options;
}

}  // namespace penstock::rules
