#include "rules/settings/grpc_resp_format.hpp"

#include "rules/settings/known_keys.hpp"
#include "rules/settings/listen_format.hpp"
#include "rules/yaml/scalar_fields.hpp"

#include <string>

namespace penstock::rules {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMaxConnections = 10'000'000;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30U;
constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 40U;
// The usual limit of gRPC. Requests are small, and a compressed one may inflate to this.
constexpr std::int64_t kMaxGrpcBytes = std::int64_t{4} << 20U;

void read_buffers(const YamlFields& fields, GrpcSettings& grpc) {
  read_number(fields, "max_message_bytes", 256, kMaxGrpcBytes, grpc.max_message_bytes);
  read_number(fields, "max_connection_buffer_bytes", 4096, kMaxBytes,
              grpc.max_connection_buffer_bytes);
  read_number(fields, "max_buffer_bytes", 4096, kMaxBufferBytes, grpc.max_buffer_bytes);
  // A compressed message is held twice, as it came and inflated.
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

void read_refunds(const YamlFields& fields, GrpcSettings& grpc) {
  const auto node = fields.find("refunds");
  if (!node) return;
  const auto chosen = node->choice<GrpcRefunds>(
      {{"auto", GrpcRefunds::Auto}, {"allow", GrpcRefunds::Allow}, {"deny", GrpcRefunds::Deny}});
  if (chosen) grpc.refunds = *chosen;
}

}  // namespace

void load_grpc(const YamlNode& section, LoadState& state) {
  const YamlFields fields(section, keys::kGrpc);
  GrpcSettings& grpc = state.settings.grpc;
  static_cast<void>(fields.require("listen"));
  read_addresses(fields, grpc.listen);
  read_tls(fields, grpc.tls);
  read_number(fields, "max_connections", 1, kMaxConnections, grpc.max_connections);
  read_number(fields, "max_streams", 1, 1'000'000, grpc.max_streams);
  read_buffers(fields, grpc);
  read_duration(fields, "idle_timeout", kMaxTimeout, grpc.idle_timeout);
  read_duration(fields, "min_ping_interval", kMaxTimeout, grpc.min_ping_interval);
  read_refunds(fields, grpc);
  read_boolean(fields, "headers", grpc.headers);
  read_boolean(fields, "dynamic_metadata", grpc.dynamic_metadata);
}

void load_resp(const YamlNode& section, LoadState& state) {
  const YamlFields fields(section, keys::kResp);
  RespSettings& resp = state.settings.resp;
  static_cast<void>(fields.require("listen"));
  read_addresses(fields, resp.listen);
  read_tls(fields, resp.tls);
  read_secrets(fields, "password", "password_file", state, resp.passwords);
  read_number(fields, "max_connections", 1, kMaxConnections, resp.max_connections);
  read_number(fields, "max_request_bytes", 256, kMaxBytes, resp.max_request_bytes);
  read_duration(fields, "idle_timeout", kMaxTimeout, resp.idle_timeout);
}

}  // namespace penstock::rules
