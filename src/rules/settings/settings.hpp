#pragma once

#include "penstock/memory_options.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/time.hpp"
#include "rules/model/rule.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A configuration without its rules. The options are described in rules/settings/*_options.cpp and
// docs/reference/configuration.md.
namespace penstock::rules {

// A bearer token. The action log shows the name of the token that a call was made with.
struct Token {
  std::string name;
  std::string secret;
  friend bool operator==(const Token&, const Token&) = default;
};

struct HttpSettings {
  std::vector<Address> listen{{.host = "127.0.0.1", .port = 8080}};
  std::optional<TlsFiles> tls{};
  // Calls that change state require one of them, unless the listener is on loopback.
  std::vector<Token> tokens{};        // `token` or `token_file`
  std::vector<Token> named_tokens{};  // `tokens`
  std::size_t max_connections = 20'000;
  std::size_t max_header_bytes = std::size_t{16} * 1024;
  std::size_t max_body_bytes = std::size_t{256} * 1024;
  Duration header_timeout = std::chrono::seconds{10};  // first byte to end of the headers
  Duration body_timeout = std::chrono::seconds{10};
  Duration write_timeout = std::chrono::seconds{10};
  Duration idle_timeout = std::chrono::seconds{75};

  [[nodiscard]] std::vector<Token> all_tokens() const {
    std::vector<Token> all = tokens;
    all.insert(all.end(), named_tokens.begin(), named_tokens.end());
    return all;
  }
};

// Which clients may refund over gRPC (is_negative_hits). Auto: clients on loopback, and clients
// with a certificate.
enum class GrpcRefunds : std::uint8_t { Auto, Allow, Deny };

// The gRPC listener: Envoy's rate limit service. Off without an address.
struct GrpcSettings {
  std::vector<Address> listen{};
  std::optional<TlsFiles> tls{};
  std::size_t max_connections = 10'000;
  std::size_t max_streams = 1'000;  // of one connection
  std::size_t max_message_bytes = std::size_t{64} * 1024;
  std::size_t max_connection_buffer_bytes = std::size_t{8} * 1024 * 1024;  // of all its calls
  std::size_t max_buffer_bytes = std::size_t{256} * 1024 * 1024;           // of all connections
  Duration idle_timeout = std::chrono::hours{1};         // of a connection without a stream
  Duration min_ping_interval = std::chrono::seconds{5};  // on a connection without a stream
  GrpcRefunds refunds = GrpcRefunds::Auto;
  // Rate limit headers, for Envoy to add. Unset: those of Settings::headers.
  std::optional<std::vector<HeaderDraft>> headers{};
  bool dynamic_metadata = false;  // the descriptors, for Envoy's access log
};

// The RESP listener. Off without an address.
struct RespSettings {
  std::vector<Address> listen{};
  std::optional<TlsFiles> tls{};
  // Clients that have not authenticated with one of them may only send HELLO, AUTH and QUIT.
  std::vector<std::string> passwords{};
  std::size_t max_connections = 10'000;
  std::size_t max_request_bytes = std::size_t{1024} * 1024;  // of one command
  Duration idle_timeout = std::chrono::minutes{5};
};

struct ForwardAuthSettings {
  std::string domain = "default";
  unsigned deny_status = 429;  // 403 for nginx
  // The proxy forwards the path, so every path that it may forward is accepted.
  PathSettings paths{.escaped_slashes = PathSettings::EscapedSlashes::Keep,
                     .backslashes = PathSettings::Backslashes::Keep};
};

// Limits sent with the request: /v1/take, CL.THROTTLE, THROTTLE, and their reservations.
struct RequestLimitSettings {
  // When the store is unavailable and the request has no policy of its own. Empty: an error.
  std::optional<OnFailure> on_failure{};
};

struct LogSettings {
  enum class Level : std::uint8_t { Debug, Info, Warning, Error };
  enum class Format : std::uint8_t { Text, Json };
  Level level = Level::Info;
  Format format = Format::Text;
};

inline constexpr Duration kShutdownDelay = std::chrono::seconds{5};

inline constexpr std::string_view kMemoryStoreUrl = "memory://";

struct Settings {
  unsigned workers = 0;  // 0: one per core
  HttpSettings http{};
  GrpcSettings grpc{};
  RespSettings resp{};
  GatewaySettings gateway{};
  ForwardAuthSettings forward_auth{};
  RequestLimitSettings request_limits{};
  std::optional<Address> admin{{.host = "127.0.0.1", .port = 9090}};
  std::vector<HeaderDraft> headers{HeaderDraft::XRateLimit, HeaderDraft::Draft08};
  std::vector<std::string> trusted_proxies{};  // CIDR; their X-Forwarded-For is trusted
  // How long the daemon serves after SIGTERM while it is not ready. Empty: no delay when started
  // from a terminal, else kShutdownDelay.
  std::optional<Duration> shutdown_delay{};
  // Of each listener, on all workers; 0: no limit. Loopback and trusted proxies are exempt.
  std::size_t max_connections_per_address = 2'000;
  Duration shutdown_grace = std::chrono::seconds{10};
  LogSettings log{};
  std::string store_url{kMemoryStoreUrl};
  RedisOptions redis{};  // unless the URL is memory://
  // How often one of the daemons scans all keys in Redis. Empty: never.
  std::optional<Duration> audit_interval{std::chrono::minutes{10}};
  MemoryOptions memory{};  // of the memory store, and of `on_failure: local`
  unsigned nodes = 0;  // that share a limit when the store is unavailable; 0: counted by heartbeat

  [[nodiscard]] bool uses_memory_store() const { return store_url == kMemoryStoreUrl; }
};

}  // namespace penstock::rules
