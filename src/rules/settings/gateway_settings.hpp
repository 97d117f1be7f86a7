#pragma once

#include "net/address.hpp"
#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The `gateway` section. The options are described in rules/settings/gateway_options.cpp and
// docs/reference/configuration.md.
namespace penstock::rules {

using net::Address;
using net::TlsFiles;

// "127.0.0.1:8080", "[::1]:8080"; empty for anything else.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);

// Rate limit headers of responses, see docs/reference/headers.md. XRateLimitUnix is XRateLimit with
// the reset as a Unix timestamp.
enum class HeaderDraft : std::uint8_t {
  Off,
  XRateLimit,
  XRateLimitUnix,
  Draft06,
  Draft07,
  Draft08,
};

// How a path is normalized before rules and upstreams see it. NUL and other control characters,
// malformed percent-encoding and paths above the root are always rejected; dot segments are always
// resolved.
struct PathSettings {
  enum class EscapedSlashes : std::uint8_t { Reject, Keep, Decode };  // %2F
  enum class Backslashes : std::uint8_t { Reject, Keep, Slash };      // and %5C
  enum class Parameters : std::uint8_t { Ignore, Reject, Keep };      // "/a;x=1/b"
  enum class LetterCase : std::uint8_t { Sensitive, Insensitive };
  bool merge_slashes = true;
  EscapedSlashes escaped_slashes = EscapedSlashes::Reject;
  Backslashes backslashes = Backslashes::Reject;
  Parameters parameters = Parameters::Ignore;      // rules see the path without them
  LetterCase letter_case = LetterCase::Sensitive;  // Insensitive: rules see it in lower case

  friend bool operator==(const PathSettings&, const PathSettings&) = default;
};

// Header fields such as "X_Api_Key", which CGI, WSGI and PHP do not distinguish from "X-Api-Key".
enum class Underscores : std::uint8_t { Drop, Reject, Allow };

// Health checks of the servers of an upstream. Without a path there are no active checks: only the
// results of requests count.
struct HealthSettings {
  std::string path{};
  Duration interval = std::chrono::seconds{5};
  Duration timeout = std::chrono::seconds{1};
  unsigned healthy = 2;    // consecutive healthy responses before a server is used again
  unsigned unhealthy = 3;  // consecutive failures, of requests too, before it is not used
  Duration pause = std::chrono::seconds{10};  // not used for this time, without active checks

  friend bool operator==(const HealthSettings&, const HealthSettings&) = default;
};

struct UpstreamSettings {
  std::string name;
  std::vector<Address> servers{};
  std::size_t max_in_flight = 10'000;  // of all workers
  std::size_t keepalive = 64;          // idle connections that a worker keeps to a server
  Duration keepalive_timeout = std::chrono::seconds{60};
  Duration connect_timeout = std::chrono::seconds{2};
  Duration first_byte_timeout = std::chrono::seconds{60};
  Duration read_timeout = std::chrono::seconds{60};   // between two reads of a response
  Duration write_timeout = std::chrono::seconds{60};  // of one write of a request
  HealthSettings health{};

  friend bool operator==(const UpstreamSettings&, const UpstreamSettings&) = default;
};

struct RouteSettings {
  std::string host{};          // "api.example.com", "*.example.com"; empty for all
  std::string path = "/**";    // a pattern as in rules
  std::size_t upstream = 0;    // index in GatewaySettings::upstreams
  std::string domain{};        // replaces the gateway's
  std::string strip_prefix{};  // removed from the path before it is forwarded

  friend bool operator==(const RouteSettings&, const RouteSettings&) = default;
};

struct InFlightSettings {
  std::string key = "client_ip";              // the attribute that identifies a client
  std::size_t limit = 0;                      // concurrent requests of one client; 0: no limit
  bool shared = false;                        // also across all nodes
  Duration lease = std::chrono::seconds{30};  // permits of a crashed node expire after this time

  friend bool operator==(const InFlightSettings&, const InFlightSettings&) = default;
};

struct AccessLogSettings {
  enum class Format : std::uint8_t { Off, Combined, Json };
  Format format = Format::Off;
  std::string path = "stdout";

  friend bool operator==(const AccessLogSettings&, const AccessLogSettings&) = default;
};

// The reverse proxy. Off without an address.
struct GatewaySettings {
  std::vector<Address> listen{};
  std::optional<TlsFiles> tls{};
  std::string domain = "default";
  std::size_t max_connections = 20'000;
  std::size_t max_streams = 128;  // of one HTTP/2 connection
  std::size_t max_header_bytes = std::size_t{16} * 1024;
  Duration header_timeout = std::chrono::seconds{10};  // first byte to end of the headers
  Duration body_timeout = std::chrono::seconds{30};    // between two reads of a body
  Duration write_timeout = std::chrono::seconds{30};   // of one write of a response
  Duration idle_timeout = std::chrono::seconds{75};
  Duration tunnel_timeout = std::chrono::hours{1};  // of an upgraded connection without a byte
  // Bytes per second. A client that is body_timeout or write_timeout behind this rate is
  // disconnected; 0: no minimum.
  std::size_t min_upload_rate = 240;
  std::size_t min_download_rate = 240;
  PathSettings paths{};
  Underscores headers_with_underscores = Underscores::Drop;
  bool forward_request_trailers = false;
  std::optional<std::vector<HeaderDraft>> headers{};  // unset: those of Settings::headers
  InFlightSettings max_in_flight{};
  AccessLogSettings access_log{};
  std::vector<UpstreamSettings> upstreams{};
  std::vector<RouteSettings> routes{};

  friend bool operator==(const GatewaySettings&, const GatewaySettings&) = default;
};

}  // namespace penstock::rules
