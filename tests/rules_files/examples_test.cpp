// The examples load, and the annotated one and the reference name every option there is.
#include "rules/model/configuration.hpp"
#include "rules/settings/settings_options.hpp"
#include "rules/yaml/rule_keys.hpp"
#include "rules/yaml/text_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::rules {
namespace {

const std::filesystem::path kSource = PENSTOCK_SOURCE_DIR;
constexpr std::size_t kMaxBytes = 1 << 20;

std::string content(const std::filesystem::path& path) {
  const Result<std::string> text = read_text_file(kSource / path, kMaxBytes);
  EXPECT_TRUE(text.has_value()) << path;
  return text ? *text : "";
}

std::string diagnostics_text(const Loaded& loaded) {
  std::string all;
  for (const Diagnostic& diagnostic : loaded.diagnostics) all += to_string(diagnostic) + "\n";
  return all;
}

Loaded load_one(const std::filesystem::path& path) {
  const std::vector<std::filesystem::path> paths{kSource / path};
  return load(paths);
}

TEST(Examples, AllExamplesLoad) {
  for (const char* name : {"examples/penstock.yaml", "examples/quickstart.yaml",
                           "examples/envoy/penstock.yaml", "packaging/penstock.yaml"}) {
    const Loaded loaded = load_one(name);
    EXPECT_EQ(diagnostics_text(loaded), "") << name;
    EXPECT_TRUE(loaded.configuration.has_value()) << name;
  }
}

TEST(Examples, TheAnnotatedOneStillLoadsWithEverythingThatIsCommentedOut) {
  std::string text = content("examples/penstock.yaml");
  // "  # key: value" is an option; a sentence has no colon after its first word.
  std::string active;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const std::size_t mark = line.find("# ");
    const std::size_t word =
        mark == std::string::npos ? mark : line.find_first_not_of(' ', mark + 1);
    const std::size_t after = word == std::string::npos
                                  ? word
                                  : line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", word);
    const bool is_option = after != std::string::npos && line[after] == ':' && after > word &&
                           line.find_first_not_of(' ') == mark &&
                           line.find("_file: /run") == std::string::npos;
    if (is_option) line.erase(mark, 2);
    active += line + "\n";
    begin = end + 1;
  }
  EXPECT_NE(active, text);
  const Loaded loaded = load_text(active, kSource / "examples/penstock.yaml");
  EXPECT_EQ(diagnostics_text(loaded), "");
  ASSERT_TRUE(loaded.configuration.has_value());
  EXPECT_EQ(loaded.configuration->settings.http.tokens,
            (std::vector<Token>{{.name = "token", .secret = "change-me"}}));
  EXPECT_TRUE(loaded.configuration->settings.http.tls.has_value());
}

// As a key of YAML, perhaps commented out.
bool has_key(const std::string& text, std::string_view key) {
  const std::string wanted = std::string(key) + ":";
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + 1)) {
    if (at == 0 || std::string_view(" {\n").find(text[at - 1]) != std::string_view::npos)
      return true;
  }
  return false;
}

TEST(Examples, TheAnnotatedOneShowsEveryOption) {
  const std::string text = content("examples/penstock.yaml");
  for (const OptionTable& section : option_tables()) {
    for (const OptionRow& row : section.rows) {
      EXPECT_TRUE(has_key(text, row.key)) << section.name << ": " << row.key;
    }
  }
  for (const keys::Section& section : keys::kAll) {
    for (const std::string_view key : section.keys) {
      EXPECT_TRUE(has_key(text, key)) << section.name << ": " << key;
    }
  }
}

TEST(Examples, TheAnnotatedOneShowsTheDefaults) {
  const Loaded loaded = load_one("examples/penstock.yaml");
  ASSERT_TRUE(loaded.configuration.has_value());
  const Settings& shown = loaded.configuration->settings;
  const Settings defaults;
  EXPECT_EQ(shown.http.listen.at(0).port, defaults.http.listen.at(0).port);
  EXPECT_EQ(shown.admin->port, defaults.admin->port);
  EXPECT_EQ(shown.workers, defaults.workers);
  EXPECT_EQ(shown.http.max_connections, defaults.http.max_connections);
  EXPECT_EQ(shown.http.max_header_bytes, defaults.http.max_header_bytes);
  EXPECT_EQ(shown.http.max_body_bytes, defaults.http.max_body_bytes);
  EXPECT_EQ(shown.http.header_timeout, defaults.http.header_timeout);
  EXPECT_EQ(shown.http.body_timeout, defaults.http.body_timeout);
  EXPECT_EQ(shown.http.write_timeout, defaults.http.write_timeout);
  EXPECT_EQ(shown.http.idle_timeout, defaults.http.idle_timeout);
  EXPECT_EQ(shown.shutdown_delay, kShutdownDelay);
  EXPECT_EQ(shown.shutdown_grace, defaults.shutdown_grace);
  EXPECT_EQ(shown.headers, defaults.headers);
  EXPECT_EQ(shown.forward_auth.deny_status, defaults.forward_auth.deny_status);
  EXPECT_EQ(shown.log.level, defaults.log.level);
  EXPECT_EQ(shown.log.format, defaults.log.format);
  EXPECT_EQ(shown.store_url, defaults.store_url);
  EXPECT_EQ(shown.redis.timeout, defaults.redis.timeout);
  EXPECT_EQ(shown.redis.key_prefix, defaults.redis.key_prefix);
  EXPECT_EQ(shown.redis.connect_timeout, defaults.redis.connect_timeout);
  EXPECT_EQ(shown.redis.max_waiting, defaults.redis.max_waiting);
  EXPECT_EQ(shown.redis.breaker_failures, defaults.redis.breaker_failures);
  EXPECT_EQ(shown.redis.breaker_min_pause, defaults.redis.breaker_min_pause);
  EXPECT_EQ(shown.redis.breaker_max_pause, defaults.redis.breaker_max_pause);
  EXPECT_EQ(shown.memory.max_keys, defaults.memory.max_keys);
  EXPECT_EQ(shown.memory.max_log_bytes, defaults.memory.max_log_bytes);
  EXPECT_EQ(shown.memory.max_counters, defaults.memory.max_counters);
  EXPECT_EQ(shown.nodes, defaults.nodes);
  EXPECT_EQ(shown.request_limits.on_failure, defaults.request_limits.on_failure);
}

// The part of the page between this mark and the next one or the next heading.
struct Part {
  std::size_t begin;
  std::size_t length;
};
Part part_of(const std::string& page, std::string_view section) {
  const std::size_t begin = page.find("<!-- options: " + std::string(section) + " -->");
  EXPECT_NE(begin, std::string::npos) << section;
  const std::size_t end = std::min(page.find("\n#", begin), page.find("<!-- options:", begin + 1));
  return {.begin = begin, .length = end - begin};
}

TEST(Reference, HasEveryKeyOfRulesInTheTableOfItsSection) {
  const std::string page = content("docs/reference/configuration.md");
  for (const keys::Section& section : keys::kAll) {
    const Part part = part_of(page, section.name);
    const std::string table = page.substr(part.begin, part.length);
    std::size_t rows = 0;
    for (std::size_t at = table.find("\n| `"); at != std::string::npos;
         at = table.find("\n| `", at + 1)) {
      ++rows;
    }
    EXPECT_EQ(rows, section.keys.size()) << section.name;
    for (const std::string_view key : section.keys) {
      EXPECT_NE(table.find("\n| `" + std::string(key) + "` |"), std::string::npos)
          << section.name << ": " << key;
    }
  }
}

}  // namespace
}  // namespace penstock::rules
