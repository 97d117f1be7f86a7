#pragma once

#include <array>
#include <span>
#include <string_view>

// Every key of our own format. examples/penstock.yaml and docs/configuration.md name them all;
// tests see to that.
namespace penstock::rules::keys {

using namespace std::string_view_literals;

inline constexpr std::array kTop{"server"sv,  "grpc"sv,           "resp"sv,          "gateway"sv,
                                 "log"sv,     "store"sv,          "nodes"sv,         "maps"sv,
                                 "domains"sv, "request_limits"sv, "unknown_domain"sv};
inline constexpr std::array kServer{"listen"sv,
                                    "admin"sv,
                                    "workers"sv,
                                    "token"sv,
                                    "token_file"sv,
                                    "tls"sv,
                                    "max_connections"sv,
                                    "max_header_bytes"sv,
                                    "max_body_bytes"sv,
                                    "header_timeout"sv,
                                    "body_timeout"sv,
                                    "write_timeout"sv,
                                    "idle_timeout"sv,
                                    "shutdown_delay"sv,
                                    "shutdown_grace"sv,
                                    "headers"sv,
                                    "trusted_proxies"sv,
                                    "forward_auth"sv,
                                    "max_connections_per_address"sv};
inline constexpr std::array kTls{"certificate"sv, "key"sv, "client_ca"sv};
inline constexpr std::array kForwardAuth{"domain"sv, "deny_status"sv, "paths"sv};
inline constexpr std::array kPaths{"merge_slashes"sv, "escaped_slashes"sv, "backslashes"sv,
                                   "parameters"sv, "case"sv};
inline constexpr std::array kGrpc{"listen"sv,
                                  "tls"sv,
                                  "max_connections"sv,
                                  "max_streams"sv,
                                  "max_message_bytes"sv,
                                  "idle_timeout"sv,
                                  "headers"sv,
                                  "dynamic_metadata"sv,
                                  "max_connection_buffer_bytes"sv,
                                  "max_buffer_bytes"sv,
                                  "min_ping_interval"sv,
                                  "refunds"sv};
inline constexpr std::array kResp{"listen"sv,          "tls"sv,
                                  "password"sv,        "password_file"sv,
                                  "max_connections"sv, "max_request_bytes"sv,
                                  "idle_timeout"sv};
inline constexpr std::array kGateway{"listen"sv,
                                     "tls"sv,
                                     "domain"sv,
                                     "max_connections"sv,
                                     "max_streams"sv,
                                     "max_header_bytes"sv,
                                     "header_timeout"sv,
                                     "body_timeout"sv,
                                     "write_timeout"sv,
                                     "idle_timeout"sv,
                                     "min_upload_rate"sv,
                                     "min_download_rate"sv,
                                     "paths"sv,
                                     "headers_with_underscores"sv,
                                     "forward_request_trailers"sv,
                                     "tunnel_timeout"sv,
                                     "max_in_flight"sv,
                                     "access_log"sv,
                                     "upstreams"sv,
                                     "routes"sv};
inline constexpr std::array kInFlight{"key"sv, "limit"sv, "shared"sv, "lease"sv};
inline constexpr std::array kAccessLog{"format"sv, "path"sv};
inline constexpr std::array kUpstream{
    "servers"sv,           "max_in_flight"sv,   "keepalive"sv,
    "keepalive_timeout"sv, "connect_timeout"sv, "first_byte_timeout"sv,
    "read_timeout"sv,      "write_timeout"sv,   "health"sv};
inline constexpr std::array kHealth{"path"sv,    "interval"sv,  "timeout"sv,
                                    "healthy"sv, "unhealthy"sv, "pause"sv};
inline constexpr std::array kRoute{"host"sv, "path"sv, "upstream"sv, "domain"sv, "strip_prefix"sv};
inline constexpr std::array kLog{"level"sv, "format"sv};
inline constexpr std::array kStore{"url"sv,
                                   "url_file"sv,
                                   "timeout"sv,
                                   "key_prefix"sv,
                                   "ca_file"sv,
                                   "certificate_file"sv,
                                   "key_file"sv,
                                   "server_name"sv,
                                   "sentinel_user"sv,
                                   "sentinel_password"sv,
                                   "connect_timeout"sv,
                                   "max_waiting"sv,
                                   "breaker_failures"sv,
                                   "breaker_min_pause"sv,
                                   "breaker_max_pause"sv,
                                   "audit_interval"sv,
                                   "max_keys"sv,
                                   "max_log_bytes"sv,
                                   "max_counters"sv};
inline constexpr std::array kRequestLimits{"on_failure"sv};
inline constexpr std::array kMap{"file"sv, "values"sv};
inline constexpr std::array kDomain{
    "on_failure"sv, "mode"sv,         "lease_lifetime"sv, "share"sv,       "algorithm"sv,
    "shadow"sv,     "count_denied"sv, "ipv4_prefix"sv,    "ipv6_prefix"sv, "attributes"sv,
    "deny"sv,       "allow"sv,        "rules"sv,          "if_missing"sv,  "caller_attributes"sv};
inline constexpr std::array kAttribute{"map"sv, "by"sv, "default"sv};
inline constexpr std::array kListEntry{"name"sv, "description"sv, "when"sv};
inline constexpr std::array kRule{
    "name"sv,         "description"sv,    "when"sv,        "key"sv,
    "limit"sv,        "limits"sv,         "unlimited"sv,   "algorithm"sv,
    "burst"sv,        "cost"sv,           "shadow"sv,      "on_failure"sv,
    "mode"sv,         "lease_lifetime"sv, "share"sv,       "ipv4_prefix"sv,
    "count_denied"sv, "overrides"sv,      "ipv6_prefix"sv, "if_missing"sv};
inline constexpr std::array kLimit{"limit"sv, "algorithm"sv, "burst"sv};
inline constexpr std::array kCost{"attribute"sv, "default"sv};
inline constexpr std::array kOverrides{"map"sv, "by"sv};
inline constexpr std::array kCondition{"equals"sv, "one_of"sv, "prefix"sv,  "glob"sv, "template"sv,
                                       "cidr"sv,   "regex"sv,  "present"sv, "not"sv};

struct Section {
  std::string_view name;
  std::span<const std::string_view> keys;
};
inline constexpr std::array kAll{Section{"top", kTop},
                                 Section{"server", kServer},
                                 Section{"server.tls", kTls},
                                 Section{"server.forward_auth", kForwardAuth},
                                 Section{"grpc", kGrpc},
                                 Section{"resp", kResp},
                                 Section{"gateway", kGateway},
                                 Section{"paths", kPaths},
                                 Section{"gateway.max_in_flight", kInFlight},
                                 Section{"gateway.access_log", kAccessLog},
                                 Section{"gateway.upstreams", kUpstream},
                                 Section{"gateway.upstreams.health", kHealth},
                                 Section{"gateway.routes", kRoute},
                                 Section{"log", kLog},
                                 Section{"store", kStore},
                                 Section{"request_limits", kRequestLimits},
                                 Section{"map", kMap},
                                 Section{"domain", kDomain},
                                 Section{"attribute", kAttribute},
                                 Section{"deny and allow", kListEntry},
                                 Section{"rule", kRule},
                                 Section{"limits", kLimit},
                                 Section{"cost", kCost},
                                 Section{"overrides", kOverrides},
                                 Section{"condition", kCondition}};

}  // namespace penstock::rules::keys
