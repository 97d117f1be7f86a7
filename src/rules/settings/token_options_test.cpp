// Tokens in the configuration and in a file.
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace penstock::rules {
namespace {

struct TokenOptions : ::testing::Test {
  TokenOptions() { std::filesystem::create_directories(folder); }
  ~TokenOptions() override { std::filesystem::remove_all(folder); }

  Loaded load_tokens(const std::string& file, const std::string& more = {}) {
    std::ofstream(folder / "tokens") << file;
    return load_text("server: {token_file: " + (folder / "tokens").string() + more +
                         "}\ndomains: {api: {rules: [{name: r, limit: 1/s}]}}",
                     "p.yaml");
  }
  // "alice=a bob=b", or the diagnostics without the folder.
  std::string tokens_in(const std::string& file, const std::string& more = {}) {
    const Loaded loaded = load_tokens(file, more);
    std::string text;
    for (const Diagnostic& each : loaded.diagnostics) text += to_string(each) + "\n";
    for (std::size_t at = 0; (at = text.find(folder.string())) != std::string::npos;) {
      text.replace(at, folder.string().size(), "DIR");
    }
    if (!loaded.configuration) return text;
    for (const Token& token : loaded.configuration->settings.http.all_tokens()) {
      text += (text.empty() || text.ends_with('\n') ? "" : " ") + token.name + "=" + token.secret;
    }
    return text;
  }

  std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      ("penstock-tokens-" +
       std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(TokenOptions, SpacesAroundATokenDoNotBelongToIt) {
  EXPECT_EQ(tokens_in("alice:  a \r\nbob:\tb\n\n  plain\t\n"), "alice=a bob=b token=plain");
  EXPECT_EQ(tokens_in("ab:cd\nx y: z\na=:\n"), "token=ab:cd token 2=x y: z token 3=a=:");
}

TEST_F(TokenOptions, ANameWithoutATokenIsAnErrorWithFileAndLine) {
  EXPECT_EQ(tokens_in("carol: c\nalice: \nbob:\n"),
            "p.yaml:1:22: error: token_file: DIR/tokens:2: \"alice\" has no token\n"
            "p.yaml:1:22: error: token_file: DIR/tokens:3: \"bob\" has no token\n");
  EXPECT_EQ(tokens_in("  \n\t"), "p.yaml:1:22: error: token_file: DIR/tokens is empty\n");
}

TEST_F(TokenOptions, TheSameTokenUnderTwoNamesIsAWarningThatDoesNotShowIt) {
  EXPECT_EQ(
      tokens_in("alice: SECRET\nb\n", ", tokens: {carol: SECRET, dora: d}"),
      "p.yaml:1:9: warning: tokens \"alice\" and \"carol\" are the same: the action log cannot "
      "tell them apart\nalice=SECRET token=b carol=SECRET dora=d");
}

}  // namespace
}  // namespace penstock::rules
