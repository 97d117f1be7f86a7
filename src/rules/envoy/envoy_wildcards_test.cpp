#include "rules/envoy/envoy_tree.hpp"
#include "rules/model/path_pattern.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::rules {
namespace {

// Says the same in the most obvious way.
bool matches_naively(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t run = 0; run <= text.size(); ++run) {
      if (matches_naively(pattern.substr(1), text.substr(run))) return true;
    }
    return false;
  }
  return !text.empty() && text.front() == pattern.front() &&
         matches_naively(pattern.substr(1), text.substr(1));
}

rc::Gen<std::string> text_of(const std::string& letters) {
  return rc::gen::container<std::string>(rc::gen::elementOf(letters));
}

TEST(EnvoyWildcards, StarStandsForAnyRunAndThePatternForTheWholeText) {
  EXPECT_TRUE(wildcard_matches("path_/api/*", "path_/api/users"));
  EXPECT_TRUE(wildcard_matches("path_/api/*", "path_/api/"));
  EXPECT_FALSE(wildcard_matches("path_/api/*", "path_/api"));
  EXPECT_TRUE(wildcard_matches("path_*/admin", "path_/v1/x/admin"));
  EXPECT_FALSE(wildcard_matches("path_*/admin", "path_/v1/admin/x"));
  EXPECT_TRUE(wildcard_matches("path_/v*/users/*", "path_/v2/users/7"));
  EXPECT_TRUE(wildcard_matches("*", ""));
  EXPECT_TRUE(wildcard_matches("**a**", "a"));
  EXPECT_FALSE(wildcard_matches("", "a"));
}

RC_GTEST_PROP(EnvoyWildcards, MatchAsTheNaiveReadingDoes, ()) {
  const auto pattern = *rc::gen::resize(8, text_of("ab**"));
  const auto text = *rc::gen::resize(10, text_of("ab*"));
  RC_ASSERT(wildcard_matches(pattern, text) == matches_naively(pattern, text));
}

RC_GTEST_PROP(EnvoyWildcards, FirstDeclaredPatternWins, ()) {
  const auto patterns = *rc::gen::container<std::vector<std::string>>(
      rc::gen::map(rc::gen::resize(4, text_of("ab*")), [](std::string p) { return p + "*"; }));
  const auto text = *rc::gen::resize(6, text_of("ab"));
  EnvoyWildcards wildcards;
  std::optional<std::size_t> expected;
  for (const std::string& pattern : patterns) {
    const auto position = wildcards.add(pattern);
    if (!expected && matches_naively(pattern, text)) expected = position;
  }
  RC_ASSERT(wildcards.find(text) == expected);
  RC_ASSERT(wildcards.empty() == patterns.empty());
}

TEST(EnvoyWildcards, LongTextsAgainstManyStarsStayQuick) {
  const std::string text(20'000, 'a');
  EXPECT_FALSE(wildcard_matches("a*a*a*a*a*a*a*a*b", text));
}

}  // namespace
}  // namespace penstock::rules
