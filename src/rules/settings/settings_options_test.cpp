#include "rules/settings/settings_options.hpp"

#include "reference/diagnostics_text.hpp"
#include "reference/option_changes.hpp"
#include "rules/yaml/text_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace penstock::rules {
namespace {

TEST(SettingsOptions, HaveUniqueNames) {
  std::set<std::string> names;
  for (const SettingsOption& option : settings_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
  }
}

TEST(SettingsOptions, AreEachReadIntoAMemberOfTheirOwn) {
  for (const reference::OptionChange& change : reference::option_changes()) {
    ASSERT_TRUE(change.old.configuration) << reference::diagnostics_text(change.old);
    ASSERT_TRUE(change.now.configuration) << change.yaml << "\n"
                                          << reference::diagnostics_text(change.now);
    const Settings& old = change.old.configuration->settings;
    const Settings& now = change.now.configuration->settings;
    const auto changed = std::ranges::count_if(
        settings_options(), [&](const SettingsOption& option) { return !option.equal(old, now); });
    EXPECT_EQ(changed, change.is_part_of_rules ? 0 : 1) << change.yaml;
    const bool same_rules = reference::outcome(*change.old.configuration->rules) ==
                            reference::outcome(*change.now.configuration->rules);
    EXPECT_NE(same_rules, change.is_part_of_rules) << change.yaml;
  }
}

TEST(SettingsOptions, CopyMakesEqual) {
  for (const reference::OptionChange& change : reference::option_changes()) {
    ASSERT_TRUE(change.old.configuration && change.now.configuration) << change.yaml;
    Settings settings = change.old.configuration->settings;
    for (const SettingsOption& option : settings_options()) {
      option.copy(change.now.configuration->settings, settings);
      EXPECT_TRUE(option.equal(change.now.configuration->settings, settings)) << option.name;
    }
  }
}

std::string markdown(const OptionTable& table) {
  std::string text = "<!-- options: " + std::string(table.name) + " -->\n\n";
  text += "| key | meaning | default | takes effect on |\n| --- | --- | --- | --- |\n";
  for (const OptionRow& row : table.rows) {
    const std::string when = row.is_section ? "see below"
                             : row.restart_reason.empty()
                                 ? "reload"
                                 : "restart: " + std::string(row.restart_reason);
    text += "| `" + std::string(row.key) + "` | " + std::string(row.help) + " | " +
            row.default_text + " | " + when + " |\n";
  }
  return text;
}

// PENSTOCK_UPDATE_DOCS=1 writes the tables into the page instead.
TEST(SettingsOptions, TheReferenceHasTheirTables) {
  const auto file = std::filesystem::path(PENSTOCK_SOURCE_DIR) / "docs/reference/configuration.md";
  const Result<std::string> text = read_text_file(file, 1 << 20);
  ASSERT_TRUE(text.has_value());
  std::string page = *text;
  const bool updates = std::getenv("PENSTOCK_UPDATE_DOCS") != nullptr;
  for (const OptionTable& table : option_tables()) {
    const std::string wanted = markdown(table);
    const std::size_t begin = page.find(wanted.substr(0, wanted.find('\n')));
    ASSERT_NE(begin, std::string::npos) << table.name << ": no table";
    const std::size_t end = page.find("\n\n", page.find("\n| `", begin)) + 1;
    if (updates) {
      page.replace(begin, end - begin, wanted);
    } else {
      EXPECT_EQ(page.substr(begin, end - begin), wanted)
          << "run this test with PENSTOCK_UPDATE_DOCS=1 to write the tables";
    }
  }
  if (updates) std::ofstream(file) << page;
}

}  // namespace
}  // namespace penstock::rules
