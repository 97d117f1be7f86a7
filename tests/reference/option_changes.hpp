#pragma once

#include "rules/model/configuration.hpp"
#include "rules/settings/settings_options.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
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
  bool needs_restart;
  bool is_part_of_rules;  // not in Settings
  std::string yaml;       // with the option
  rules::Loaded old;
  rules::Loaded now;
};

inline std::string yaml_of(const SectionYaml& section) {
  std::string yaml = "{" + section.before;
  for (const auto& [name, text] : section.fields) yaml += name + ": " + text + ", ";
  return yaml + section.after + "}";
}

// A file that holds a secret, for options such as token_file.
class SecretFile {
 public:
  explicit SecretFile(const std::string& secret)
      : path_(std::filesystem::temp_directory_path() /
              ("penstock-option-" + std::to_string(getpid()) + "-" +
               std::to_string(std::hash<std::string>{}(secret)))) {
    std::ofstream(path_) << secret;
  }
  ~SecretFile() { std::filesystem::remove(path_); }
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Rules in two versions, for the parts of the file that are not in Settings.
struct RulesChange {
  std::string old;
  std::string now;
};
inline const std::map<std::string, RulesChange, std::less<>>& rules_changes() {
  const std::string rules =
      "domains: {d: {rules: [{name: r, key: user, limit: 5/m, overrides: {map: m, by: user}}]}}, ";
  static const std::map<std::string, RulesChange, std::less<>> all{
      {"unknown_domain", {"{unknown_domain: allow}", "{unknown_domain: deny}"}},
      {"maps",
       {"{" + rules + "maps: {m: {values: {u: 1/m}}}}",
        "{" + rules + "maps: {m: {values: {u: 2/m}}}}"}},
      {"domains",
       {"{domains: {d: {rules: [{name: r, limit: 5/m}]}}}",
        "{domains: {d: {rules: [{name: r, limit: 6/m}]}}}"}},
  };
  return all;
}

// What a request of user "u" in the domain "d" meets.
inline std::string outcome(const rules::Ruleset& rules) {
  const rules::Match match =
      rules.match({.domain = "d", .descriptors = {{.entries = {{"user", "u"}}}}, .cost = Cost{1}});
  std::string text = match.unknown_domain_denied ? "denied" : "";
  for (const rules::MatchedLimit& limit : match.limits) text += to_string(limit.check.quota) + " ";
  return text;
}

// Of all options. REQUIRES: sections() has every table.
inline std::vector<OptionChange> option_changes() {
  const SecretFile secret("secret");
  const SecretFile url("redis://127.0.0.1:7");
  const std::map<std::string_view, std::string> files{
      {"token_file", secret.path()}, {"password_file", secret.path()}, {"url_file", url.path()}};
  std::vector<OptionChange> changes;
  for (const rules::OptionTable& table : rules::option_tables()) {
    for (const rules::OptionRow& row : table.rows) {
      if (row.is_section) continue;
      SectionYaml section = sections().at(std::string(table.name));
      std::string old = yaml_of(section);
      const auto file = files.find(row.key);
      section.fields[std::string(row.key)] = file == files.end() ? row.sample : file->second;
      std::string now = yaml_of(section);
      const auto rules = rules_changes().find(row.key);
      const bool is_part_of_rules = table.name == "top" && rules != rules_changes().end();
      if (is_part_of_rules) {
        old = rules->second.old;
        now = rules->second.now;
      }
      changes.push_back({.name = std::string(table.name) + ": " + std::string(row.key),
                         .needs_restart = !row.restart_reason.empty(),
                         .is_part_of_rules = is_part_of_rules,
                         .yaml = now,
                         .old = rules::load_text(old, "p.yaml"),
                         .now = rules::load_text(now, "p.yaml")});
    }
  }
  return changes;
}

}  // namespace penstock::reference
