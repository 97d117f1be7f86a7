#pragma once

#include "rules/model/configuration.hpp"
#include "rules/settings/settings_options.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

// For each option a configuration without it and one with another value than the default.
namespace penstock::reference {

// A section in YAML, with the fields that a valid configuration needs.
struct SectionYaml {
  std::string before;
  std::map<std::string, std::string> fields;
  std::string after;
};

inline const std::map<std::string, SectionYaml>& sections() {
  const std::string upstreams =
      "upstreams: {app: {servers: 'http://127.0.0.1:1'}, other: {servers: 'http://127.0.0.1:1'}}";
  const std::string gateway = "gateway: {listen: 127.0.0.1:2, ";
  const std::string routes = "routes: [{upstream: app}]";
  static const std::map<std::string, SectionYaml> all{
      {"top", {"", {}, ""}},
      {"server", {"server: {", {}, "}"}},
      {"server.tls", {"server: {tls: {", {{"certificate", "c.pem"}, {"key", "k.pem"}}, "}}"}},
      {"server.forward_auth", {"server: {forward_auth: {", {}, "}}"}},
      {"grpc", {"grpc: {", {{"listen", "127.0.0.1:2"}}, "}"}},
      {"resp", {"resp: {", {{"listen", "127.0.0.1:2"}}, "}"}},
      {"gateway",
       {"gateway: {",
        {{"listen", "127.0.0.1:2"},
         {"upstreams", upstreams.substr(upstreams.find('{'))},
         {"routes", "[{upstream: app}]"}},
        "}"}},
      {"paths", {"server: {forward_auth: {paths: {", {}, "}}}"}},
      {"gateway.max_in_flight",
       {gateway + upstreams + ", " + routes + ", max_in_flight: {", {}, "}}"}},
      {"gateway.access_log", {gateway + upstreams + ", " + routes + ", access_log: {", {}, "}}"}},
      {"gateway.upstreams",
       {gateway + routes + ", upstreams: {app: {", {{"servers", "http://127.0.0.1:1"}}, "}}}"}},
      {"gateway.upstreams.health",
       {gateway + routes + ", upstreams: {app: {servers: 'http://127.0.0.1:1', health: {",
        {},
        "}}}}"}},
      {"gateway.routes", {gateway + upstreams + ", routes: [{", {{"upstream", "app"}}, "}]}"}},
      {"log", {"log: {", {}, "}"}},
      {"store", {"store: {", {}, "}"}},
      {"request_limits", {"request_limits: {", {}, "}"}},
  };
  return all;
}

struct OptionChange {
  std::string name;  // "server: max_connections"
  rules::TakesEffect takes_effect;
  std::string yaml;  // with the option
  rules::Loaded old;
  rules::Loaded now;
};

inline std::string yaml_of(const SectionYaml& section) {
  std::string yaml = "{" + section.before;
  for (const auto& [name, text] : section.fields) yaml += name + ": " + text + ", ";
  return yaml + section.after + "}";
}

// Of all options but second keys (token_file), and parts of the rules, which every reload replaces.
// REQUIRES: sections() has every table.
inline std::vector<OptionChange> option_changes() {
  const auto has_no_member = [](std::string_view key) {
    return key == "token_file" || key == "password_file" || key == "url_file" ||
           key == "unknown_domain" || key == "maps" || key == "domains";
  };
  std::vector<OptionChange> changes;
  for (const rules::OptionTable& table : rules::option_tables()) {
    for (const rules::OptionRow& row : table.rows) {
      if (row.is_section || has_no_member(row.key)) continue;
      SectionYaml section = sections().at(std::string(table.name));
      const std::string old = yaml_of(section);
      section.fields[std::string(row.key)] = row.sample;
      changes.push_back({.name = std::string(table.name) + ": " + std::string(row.key),
                         .takes_effect = row.takes_effect,
                         .yaml = yaml_of(section),
                         .old = rules::load_text(old, "p.yaml"),
                         .now = rules::load_text(yaml_of(section), "p.yaml")});
    }
  }
  return changes;
}

}  // namespace penstock::reference
