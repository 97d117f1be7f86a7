#include "rules/model/path_pattern.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::rules {
namespace {

PathPattern pattern_of(std::string_view text) {
  std::vector<std::string> names;
  Result<PathPattern> pattern = PathPattern::parse(text, PathPattern::Braces::Capture, names);
  EXPECT_TRUE(pattern.has_value()) << text;
  return *pattern;
}

bool matches(std::string_view pattern, std::string_view path) {
  Captures captures;
  return pattern_of(pattern).matches(split_path(path), captures);
}

TEST(PathPattern, StarStaysInItsSegmentAndTwoStarsDoNot) {
  EXPECT_TRUE(matches("/v1/*", "/v1/search"));
  EXPECT_FALSE(matches("/v1/*", "/v1/search/all"));
  EXPECT_FALSE(matches("/v1/*", "/v1"));
  EXPECT_TRUE(matches("/v1/**", "/v1/search/all"));
  EXPECT_TRUE(matches("/v1/**", "/v1"));
  EXPECT_FALSE(matches("/v1/**", "/v10"));
  EXPECT_TRUE(matches("/**/admin", "/a/b/admin"));
  EXPECT_FALSE(matches("/**/admin", "/a/b/admins"));
  EXPECT_TRUE(matches("/files/*.png", "/files/a.b.png"));
  EXPECT_TRUE(matches("/", "/"));
  EXPECT_FALSE(matches("/", "/a"));
}

TEST(PathPattern, DoubledAndTrailingSlashesDoNotEvadeAPattern) {
  EXPECT_TRUE(matches("/v1/search", "/v1//search"));
  EXPECT_TRUE(matches("/v1/search", "//v1/search/"));
}

TEST(PathPattern, CapturesNamedSegments) {
  std::vector<std::string> names;
  const auto pattern =
      PathPattern::parse("/users/{id}/**/{file}", PathPattern::Braces::Capture, names);
  ASSERT_TRUE(pattern.has_value());
  EXPECT_EQ(names, (std::vector<std::string>{"id", "file"}));
  Captures captures;
  EXPECT_TRUE(pattern->matches(split_path("/users/42/a/b/c.txt"), captures));
  EXPECT_EQ(captures.values[0], "42");
  EXPECT_EQ(captures.values[1], "c.txt");
}

TEST(PathPattern, RejectsInvalidPatterns) {
  for (const std::string_view text :
       {"v1", "/a/**/b/**", "/a**", "/users/x{id}", "/users/{}", "/{a}/{a}", "/{a", "/a}"}) {
    std::vector<std::string> names;
    EXPECT_FALSE(PathPattern::parse(text, PathPattern::Braces::Capture, names)) << text;
  }
}

// The shortest definition, as reference.
bool wild(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return wild(pattern.substr(1), text) || (!text.empty() && wild(pattern, text.substr(1)));
  }
  return !text.empty() && pattern.front() == text.front() &&
         wild(pattern.substr(1), text.substr(1));
}
bool defined(std::span<const std::string_view> pattern, std::span<const std::string_view> path) {
  if (pattern.empty()) return path.empty();
  if (pattern[0] == "**") {
    return defined(pattern.subspan(1), path) ||
           (!path.empty() && defined(pattern, path.subspan(1)));
  }
  return !path.empty() && wild(pattern[0], path[0]) && defined(pattern.subspan(1), path.subspan(1));
}

std::string random_path(std::vector<std::string> segments) {
  std::string path;
  for (const std::string& segment :
       *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(std::move(segments)))) {
    path += "/" + segment;
    if (path.size() > 20) break;
  }
  return path.empty() ? "/" : path;
}

std::string random_pattern() {
  std::string pattern = random_path({"a", "b", "ab", "*", "a*", "*b", "**"});
  for (std::size_t at = pattern.find("/**"); at != std::string::npos;) {
    const std::size_t next = pattern.find("/**", at + 3);
    if (next == std::string::npos) break;
    pattern.erase(next, 3);
  }
  return pattern;
}

RC_GTEST_PROP(PathPattern, MatchesByDefinition, ()) {
  const std::string pattern = random_pattern();
  const std::string path = random_path({"a", "b", "ab", "aab", ""});
  RC_ASSERT(matches(pattern, path) == defined(split_path(pattern), split_path(path)));
}

RC_GTEST_PROP(PathTrie, FindsEveryPatternThatMatches, ()) {
  std::vector<PathPattern> patterns;
  PathTrie trie;
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 20);
  for (std::uint32_t i = 0; i < count; ++i) {
    patterns.push_back(pattern_of(random_pattern()));
    trie.add(patterns.back(), i);
  }
  const std::string path = random_path({"a", "b", "ab", "aab"});
  RuleNumbers found;
  trie.find(split_path(path), found);
  for (std::uint32_t i = 0; i < count; ++i) {
    Captures captures;
    if (!patterns[i].matches(split_path(path), captures)) continue;
    RC_ASSERT(std::find(found.begin(), found.end(), i) != found.end());
  }
}

}  // namespace
}  // namespace penstock::rules
