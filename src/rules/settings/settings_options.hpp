#pragma once

#include "rules/settings/settings.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// An option of Settings, for a daemon that compares two of them.
struct SettingsOption {
  std::string name;                 // "store.timeout"
  std::string_view restart_reason;  // empty: it takes effect on reload
  std::function<bool(const Settings&, const Settings&)> equal;
  std::function<void(const Settings& from, Settings& to)> copy;
};
// Every option, each member once.
[[nodiscard]] const std::vector<SettingsOption>& settings_options();

// The options of a section, for the reference and for tests.
struct OptionRow {
  std::string_view key;
  std::string_view help;
  std::string default_text;
  std::string_view restart_reason;  // empty: it takes effect on reload
  std::string sample;               // a valid value other than the default, in YAML
  bool is_section;                  // it has no value of its own
};
struct OptionTable {
  std::string_view name;  // "server.tls"
  std::vector<OptionRow> rows;
};
// In the order of docs/reference/configuration.md.
[[nodiscard]] const std::vector<OptionTable>& option_tables();

}  // namespace penstock::rules
