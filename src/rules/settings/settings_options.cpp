#include "rules/settings/settings_options.hpp"

#include "rules/settings/section_options.hpp"

namespace penstock::rules {
namespace {

void append(const std::string& prefix, const Options<Settings>& options,
            std::vector<SettingsOption>& all) {
  for (const Option<Settings>& option : options) {
    const std::string name = prefix + std::string(option.key);
    if (option.equal) {
      all.push_back({.name = name,
                     .restart_reason = option.restart_reason,
                     .equal = option.equal,
                     .copy = option.copy});
    }
    append(name + ".", option.parts, all);
  }
}

template <class Section>
OptionTable table(std::string_view name, const Options<Section>& options) {
  OptionTable made{.name = name, .rows = {}};
  for (const Option<Section>& option : options) {
    made.rows.push_back({.key = option.key,
                         .help = option.help,
                         .default_text = option.default_text,
                         .restart_reason = option.restart_reason,
                         .sample = option.sample,
                         .is_section = !option.parts.empty() && !option.equal});
  }
  return made;
}

}  // namespace

const std::vector<SettingsOption>& settings_options() {
  static const std::vector<SettingsOption> all = [] {
    std::vector<SettingsOption> options;
    append("", top_options(), options);
    return options;
  }();
  return all;
}

const std::vector<OptionTable>& option_tables() {
  static const std::vector<OptionTable> tables{
      table("top", top_options()),
      table("server", server_options()),
      table("server.tls", tls_options()),
      table("server.forward_auth", forward_auth_options()),
      table("grpc", grpc_options()),
      table("resp", resp_options()),
      table("gateway", gateway_options()),
      table("paths", path_options()),
      table("gateway.max_in_flight", in_flight_options()),
      table("gateway.access_log", access_log_options()),
      table("gateway.upstreams", upstream_options()),
      table("gateway.upstreams.health", health_options()),
      table("gateway.routes", route_options()),
      table("log", log_options()),
      table("store", store_options()),
      table("request_limits", request_limit_options()),
  };
  return tables;
}

}  // namespace penstock::rules
