#pragma once

#include "rules/settings/option.hpp"
#include "rules/settings/settings.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The rows of each section of our own format, and what several sections have.
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
void check_tokens(const YamlFields& fields, Settings& settings, LoadState& state);
void check_store(const YamlFields& fields, Settings& settings, LoadState& state);

[[nodiscard]] std::optional<Address> read_address(const YamlNode& node);
// One address or a list.
[[nodiscard]] std::vector<Address> read_addresses(const YamlNode& node);
// Secrets that are valid at a time: one or a list.
[[nodiscard]] std::vector<std::string> read_secrets(const YamlNode& node);
// The content of a file that holds a secret, without the line end after it. The secret must not
// also be given under the key `direct`. Empty after an error.
[[nodiscard]] std::optional<std::string> read_secret_file(const OptionValue& value,
                                                          std::string_view direct);
// One secret per line.
[[nodiscard]] std::vector<std::string> secrets_of(const std::string& text);

// The rows of bearer tokens.
[[nodiscard]] Option<HttpSettings> token_option();
[[nodiscard]] Option<HttpSettings> tokens_option();
[[nodiscard]] Option<HttpSettings> token_file_option();

// One kind of rate limit headers, or a list.
[[nodiscard]] std::vector<HeaderDraft> read_headers(const YamlNode& node);

// `option`, the name of `case`, when these settings show paths to rules in lower case; else empty.
[[nodiscard]] std::string_view folding(const PathSettings& paths, std::string_view option);

inline constexpr std::int64_t kMaxConnections = 10'000'000;

template <class Section>
Option<Section> listen(std::vector<Address> Section::*member, std::string_view help) {
  Option<Section> option = row("listen", member, help);
  option.restart_reason = "ports are bound at startup";
  option.sample = "127.0.0.1:1";
  option.read = [member](const OptionValue& value, Section& section) {
    section.*member = read_addresses(value.node);
  };
  return option;
}

// For new connections.
template <class Section>
Option<Section> tls(std::optional<TlsFiles> Section::*member, std::string_view help) {
  Option<Section> option = row("tls", member, help);
  option.default_text = "no TLS";
  option.sample = "{certificate: a.pem, key: a.key}";
  option.read = [member](const OptionValue& value, Section& section) {
    TlsFiles files;
    static_cast<void>(read_section(value.node, tls_options(), files, value.state));
    section.*member = std::move(files);
  };
  return option;
}

// Secrets, any of which is valid: one or a list.
template <class Section>
Option<Section> secrets(std::string_view key, std::vector<std::string> Section::*member,
                        std::string_view help) {
  Option<Section> option = row(key, member, help);
  option.default_text = "none";
  option.sample = "secret";
  option.read = [member](const OptionValue& value, Section& section) {
    section.*member = read_secrets(value.node);
  };
  return option;
}

// The same from a file, one per line.
template <class Section>
Option<Section> secrets_file(std::string_view key, std::string_view direct,
                             std::vector<std::string> Section::*member, std::string_view help) {
  Option<Section> option{.key = key, .help = help, .default_text = "none"};
  option.read = [direct, member](const OptionValue& value, Section& section) {
    if (const auto text = read_secret_file(value, direct)) section.*member = secrets_of(*text);
  };
  return option;
}

}  // namespace penstock::rules
