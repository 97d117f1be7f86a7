#include "daemon/settings_change.hpp"

#include "redis_store/requests.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace penstock::daemon {
namespace {

// The same but for the names of certificates.
bool equal_except_files(const rules::GatewaySettings& a, rules::GatewaySettings b) {
  if (a.tls && b.tls) b.tls = a.tls;
  return a == b;
}

// To turn TLS on or off takes a restart.
void take_files(std::optional<net::TlsFiles>& in_force, const std::optional<net::TlsFiles>& now) {
  if (in_force && now) in_force = now;
}

}  // namespace

std::string needs_restart(const rules::Settings& old, const rules::Settings& now) {
  std::string names;
  const auto note = [&](bool changed, const char* name) {
    if (changed) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  const auto differ = [](const net::Address& a, const net::Address& b) {
    return a.host != b.host || a.port != b.port;
  };
  note(!std::equal(old.http.listen.begin(), old.http.listen.end(), now.http.listen.begin(),
                   now.http.listen.end(),
                   [&](const auto& a, const auto& b) { return !differ(a, b); }),
       "server.listen");
  note(old.workers != now.workers, "server.workers");
  note(old.http.tls.has_value() != now.http.tls.has_value(), "server.tls");
  note(old.admin.has_value() != now.admin.has_value() ||
           (old.admin && differ(*old.admin, *now.admin)),
       "server.admin");
  note(old.http.max_connections != now.http.max_connections, "server.max_connections");
  note(old.max_connections_per_address != now.max_connections_per_address,
       "server.max_connections_per_address");
  note(old.http.max_header_bytes != now.http.max_header_bytes, "server.max_header_bytes");
  note(old.http.max_body_bytes != now.http.max_body_bytes, "server.max_body_bytes");
  note(old.http.header_timeout != now.http.header_timeout, "server.header_timeout");
  note(old.http.body_timeout != now.http.body_timeout, "server.body_timeout");
  note(old.http.write_timeout != now.http.write_timeout, "server.write_timeout");
  note(old.http.idle_timeout != now.http.idle_timeout, "server.idle_timeout");
  const auto differ_in = [&](const std::vector<net::Address>& a,
                             const std::vector<net::Address>& b) {
    return !std::equal(a.begin(), a.end(), b.begin(), b.end(),
                       [&](const auto& x, const auto& y) { return !differ(x, y); });
  };
  note(differ_in(old.grpc.listen, now.grpc.listen), "grpc.listen");
  note(old.grpc.tls.has_value() != now.grpc.tls.has_value(), "grpc.tls");
  note(old.grpc.max_connections != now.grpc.max_connections, "grpc.max_connections");
  note(old.grpc.max_streams != now.grpc.max_streams, "grpc.max_streams");
  note(old.grpc.max_message_bytes != now.grpc.max_message_bytes, "grpc.max_message_bytes");
  note(old.grpc.max_connection_buffer_bytes != now.grpc.max_connection_buffer_bytes,
       "grpc.max_connection_buffer_bytes");
  note(old.grpc.max_buffer_bytes != now.grpc.max_buffer_bytes, "grpc.max_buffer_bytes");
  note(old.grpc.idle_timeout != now.grpc.idle_timeout, "grpc.idle_timeout");
  note(old.grpc.min_ping_interval != now.grpc.min_ping_interval, "grpc.min_ping_interval");
  note(old.grpc.refunds != now.grpc.refunds, "grpc.refunds");
  note(old.grpc.headers != now.grpc.headers, "grpc.headers");
  note(old.grpc.dynamic_metadata != now.grpc.dynamic_metadata, "grpc.dynamic_metadata");
  note(differ_in(old.resp.listen, now.resp.listen), "resp.listen");
  note(old.resp.tls.has_value() != now.resp.tls.has_value(), "resp.tls");
  note(old.resp.max_connections != now.resp.max_connections, "resp.max_connections");
  note(old.resp.max_request_bytes != now.resp.max_request_bytes, "resp.max_request_bytes");
  note(old.resp.idle_timeout != now.resp.idle_timeout, "resp.idle_timeout");
  note(old.forward_auth.domain != now.forward_auth.domain ||
           old.forward_auth.deny_status != now.forward_auth.deny_status ||
           old.forward_auth.paths != now.forward_auth.paths,
       "server.forward_auth");
  note(old.log.level != now.log.level || old.log.format != now.log.format, "log");
  note(old.memory.max_keys != now.memory.max_keys, "store.max_keys");
  note(old.redis.server_name != now.redis.server_name, "store.server_name");
  note(!redis_store::same_server(old.store_url, now.store_url), "store.url");
  note(old.redis.timeout != now.redis.timeout, "store.timeout");
  note(old.redis.key_prefix != now.redis.key_prefix, "store.key_prefix");
  note(old.audit_interval != now.audit_interval, "store.audit_interval");
  note(old.nodes != now.nodes, "nodes");
  note(old.request_limits.on_failure != now.request_limits.on_failure, "request_limits.on_failure");
  note(!equal_except_files(old.gateway, now.gateway), "gateway");
  note(old.headers != now.headers, "server.headers");
  note(old.trusted_proxies != now.trusted_proxies, "server.trusted_proxies");
  return names;
}

void apply_reloadable(rules::Settings& in_force, const rules::Settings& now) {
  in_force.shutdown_delay = now.shutdown_delay;
  in_force.shutdown_grace = now.shutdown_grace;
  take_files(in_force.http.tls, now.http.tls);
  take_files(in_force.grpc.tls, now.grpc.tls);
  take_files(in_force.resp.tls, now.resp.tls);
  take_files(in_force.gateway.tls, now.gateway.tls);
  in_force.http.tokens = now.http.tokens;
  in_force.resp.passwords = now.resp.passwords;
  if (!redis_store::same_server(in_force.store_url, now.store_url)) return;
  in_force.store_url = now.store_url;
  in_force.redis.url = now.redis.url;
  in_force.redis.sentinel_user = now.redis.sentinel_user;
  in_force.redis.sentinel_password = now.redis.sentinel_password;
  in_force.redis.ca_file = now.redis.ca_file;
  in_force.redis.certificate_file = now.redis.certificate_file;
  in_force.redis.key_file = now.redis.key_file;
}

}  // namespace penstock::daemon
