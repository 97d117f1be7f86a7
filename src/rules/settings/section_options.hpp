#pragma once

#include "rules/settings/option.hpp"
#include "rules/settings/settings.hpp"

// The rows of each section of our own format.
namespace penstock::rules {

// The whole file: sections, and options outside of any.
[[nodiscard]] const Options<Settings>& top_options();

[[nodiscard]] const Options<Settings>& server_options();
[[nodiscard]] const Options<TlsFiles>& tls_options();
[[nodiscard]] const Options<ForwardAuthSettings>& forward_auth_options();
[[nodiscard]] const Options<PathSettings>& path_options();
[[nodiscard]] const Options<GrpcSettings>& grpc_options();
[[nodiscard]] const Options<RespSettings>& resp_options();
[[nodiscard]] const Options<GatewaySettings>& gateway_options();
[[nodiscard]] const Options<InFlightSettings>& in_flight_options();
[[nodiscard]] const Options<AccessLogSettings>& access_log_options();
[[nodiscard]] const Options<UpstreamSettings>& upstream_options();
[[nodiscard]] const Options<HealthSettings>& health_options();
[[nodiscard]] const Options<RouteSettings>& route_options();
[[nodiscard]] const Options<LogSettings>& log_options();
[[nodiscard]] const Options<Settings>& store_options();
[[nodiscard]] const Options<RequestLimitSettings>& request_limit_options();

// Checks of a section once all of it is read.
void check_gateway(const YamlFields& fields, GatewaySettings& gateway, LoadState& state);
void check_grpc(const YamlFields& fields, GrpcSettings& grpc, LoadState& state);
void check_store(const YamlFields& fields, Settings& settings, LoadState& state);

}  // namespace penstock::rules
