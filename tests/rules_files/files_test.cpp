// Configurations in files and directories.
#include "rules/model/configuration.hpp"
#include "servers/temp_directory.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

class Files : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) const {
    servers::write_file(directory() / name, text);
  }
  std::filesystem::path directory() const { return directory_.path(); }
  Loaded load_all() const {
    const std::vector<std::filesystem::path> paths{directory()};
    return load(paths);
  }
  // Without the directory.
  std::string diagnostics_text(const Loaded& loaded) const {
    std::string all;
    for (const Diagnostic& diagnostic : loaded.diagnostics) all += to_string(diagnostic) + "\n";
    const std::string prefix = directory().string() + "/";
    for (std::size_t at = all.find(prefix); at != std::string::npos; at = all.find(prefix)) {
      all.erase(at, prefix.size());
    }
    return all;
  }

 private:
  servers::TempDirectory directory_;
};

TEST_F(Files, FilesOfADirectoryFormOneConfiguration) {
  write("a.yaml", "domains: {a: {rules: [{name: r, limit: 1/s, when: {tier: gold}}]}}");
  write("b.yml",
        "domains:\n  b:\n    attributes: {tier: {map: tiers, by: user}}\n"
        "    rules: [{name: r, limit: 2/s, when: {tier: gold}}]");
  write("maps.yaml", "maps: {tiers: {file: tiers.txt}}");
  write("tiers.txt", "ann: gold\n");
  write("notes.md", "not: [read");
  write(".hidden.yaml", "not: [read");
  const Loaded loaded = load_all();
  EXPECT_EQ(diagnostics_text(loaded), "");
  ASSERT_TRUE(loaded.configuration.has_value());
  EXPECT_TRUE(loaded.configuration->rules->has_domain("a"));
  EXPECT_TRUE(loaded.configuration->rules->has_domain("b"));
  EXPECT_EQ(
      loaded.configuration->files,
      (std::vector<std::filesystem::path>{directory() / "a.yaml", directory() / "b.yml",
                                          directory() / "maps.yaml", directory() / "tiers.txt"}));
  const Match match = loaded.configuration->rules->match(
      {.domain = "b", .descriptors = {{.entries = {{"user", "ann"}}}}});
  EXPECT_EQ(match.limits.size(), 1U);
}

TEST_F(Files, DuplicatesAreReportedWithBothPositions) {
  write("a.yaml", "server: {workers: 1}\ndomains: {x: {rules: [{name: r, limit: 1/s}]}}");
  write("b.yaml", "\nserver: {workers: 2}\ndomains: {x: {rules: [{name: r, limit: 1/s}]}}");
  EXPECT_EQ(diagnostics_text(load_all()),
            "b.yaml:2:9: error: server a second time; first in a.yaml:1\n"
            "b.yaml:3:11: error: domain 'x' a second time; first in a.yaml:2\n");
}

TEST_F(Files, AMapValueThatNoRuleMatchesIsReportedWithItsLine) {
  write("p.yaml",
        "maps: {tiers: {file: tiers.csv}, plans: {file: plans.txt}}\n"
        "domains:\n  api:\n"
        "    attributes: {tier: {map: tiers, by: user_id}, plan: {map: plans, by: user_id}}\n"
        "    rules:\n      - {name: pro, limit: 1/s, when: {tier: pro}}\n"
        "      - {name: large, limit: 1/s, when: {plan: large}}\n");
  write("tiers.csv", "# tiers\nk1,pro\n\nk-typo,PRO\nk-space, pro\n");
  write("plans.txt", "k1: large\nk2: lrage\nk3: 'large  '\n");
  const std::string end = " is matched by no rule; did you mean ";
  EXPECT_EQ(diagnostics_text(load_all()),
            "p.yaml:1:34: warning: value 'large  ' of map 'plans' (1 key)" + end + "'large'?\n" +
                "plans.txt:2:1: warning: value 'lrage' of map 'plans' (1 key)" + end +
                "'large'?\n" + "tiers.csv:4:1: warning: value 'PRO' of map 'tiers' (1 key)" + end +
                "'pro'?\n" + "tiers.csv:5:1: warning: value ' pro' of map 'tiers' (1 key)" + end +
                "'pro'?\n");
}

TEST_F(Files, ErrorsOfMapsNameTheMap) {
  write("z.yaml", "maps: {m: {file: m.csv}, n: {file: n.yaml}, o: {file: none.csv}}");
  write("m.csv", "a\n");
  write("n.yaml", "maps: 1\na: [1]\n");  // a map that looks like a configuration
  EXPECT_EQ(diagnostics_text(load_all()),
            "m.csv:1:1: error: expected a line key,value, found \"a\"\n"
            "n.yaml:2:4: error: a: expected a text, found a list\n"
            "z.yaml:1:55: error: file: none.csv cannot be read: No such file or directory\n");
}

TEST_F(Files, SecretsAreReadFromFilesWithoutTheirLineEnd) {
  write("token", "s3cret\n");
  write("url", "redis://:pass@db:6379\n");
  write("a.yaml", "server: {token_file: token}\nstore: {url_file: url}\n");
  const Loaded loaded = load_all();
  ASSERT_TRUE(loaded.configuration.has_value()) << diagnostics_text(loaded);
  EXPECT_EQ(loaded.configuration->settings.http.tokens,
            (std::vector<Token>{{.name = "token", .secret = "s3cret"}}));
  EXPECT_EQ(loaded.configuration->settings.redis.url, "redis://:pass@db:6379");
}

TEST_F(Files, EachLineOfATokenFileIsAToken) {
  write("token", "new\r\n\nold\n");
  write("a.yaml", "server: {token_file: token}\n");
  const Loaded loaded = load_all();
  ASSERT_TRUE(loaded.configuration.has_value()) << diagnostics_text(loaded);
  EXPECT_EQ(loaded.configuration->settings.http.tokens,
            (std::vector<Token>{{.name = "token", .secret = "new"},
                                {.name = "token 2", .secret = "old"}}));
}

TEST_F(Files, MissingFilesAreReported) {
  const std::vector<std::filesystem::path> paths{directory() / "none.yaml"};
  EXPECT_EQ(diagnostics_text(load(paths)),
            "none.yaml: error: none.yaml cannot be read: No such file or directory\n");
  EXPECT_NE(diagnostics_text(load_all()).find("a directory without *.yaml or *.yml files"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::rules
