#include "http/normalized_path.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace penstock::http {
namespace {

using rules::PathSettings;

constexpr PathSettings kKeepAll{.merge_slashes = false,
                                .escaped_slashes = PathSettings::EscapedSlashes::Keep,
                                .backslashes = PathSettings::Backslashes::Keep,
                                .parameters = PathSettings::Parameters::Keep};

// "forwarded matched", or the reason of the error.
std::string normal(std::string_view path, const PathSettings& settings = {}) {
  const auto result = normalized_path(path, settings);
  if (const auto* refusal = std::get_if<HttpError>(&result)) return std::string(refusal->detail);
  const auto& found = std::get<NormalizedPath>(result);
  return found.forwarded + " " + found.matched;
}

TEST(NormalizedPath, HasOneSpelling) {
  EXPECT_EQ(normal("/v1/search"), "/v1/search /v1/search");
  EXPECT_EQ(normal("/v1//search"), "/v1/search /v1/search");
  EXPECT_EQ(normal("/v1/%73earch"), "/v1/search /v1/search");
  EXPECT_EQ(normal("/v1/./x/../search/"), "/v1/search/ /v1/search/");
  EXPECT_EQ(normal("/v1/%2e%2e/search"), "/search /search");
  EXPECT_EQ(normal("/v1/%2E/search"), "/v1/search /v1/search");
  EXPECT_EQ(normal(""), "/ /");
  EXPECT_EQ(normal("/a/.."), "/ /");
  EXPECT_EQ(normal("*"), "* *");
  EXPECT_EQ(normal("/a%3fb%25c%c3%a9"), "/a%3Fb%25c%C3%A9 /a?b%25c\xC3\xA9");
  EXPECT_EQ(normal("/\xC3\xA9"), "/%C3%A9 /\xC3\xA9");
  EXPECT_EQ(normal("/a b"), "the path has a control character");
}

TEST(NormalizedPath, IsRejectedWhereNoServerShouldGetIt) {
  for (const std::string_view path :
       {"/login%00", "/a%0d%0aX:y", "/a%7f", "/a%zz", "/a%4", "/a%", "/%u002f", "/../etc",
        "/a/../../b", "/%2e%2e/etc", "/a/..;/b", "/a/..;x=1/b", "/a/%2e%2e;/b", "/./;/..;/x", "a/b",
        "/a\tb", "/..%3B/b"}) {
    const auto result = normalized_path(path, kKeepAll);
    EXPECT_TRUE(std::holds_alternative<HttpError>(result)) << path;
  }
}

TEST(NormalizedPath, EscapedSlashesFollowTheSetting) {
  PathSettings settings;
  EXPECT_EQ(normal("/a%2fb"), "the path has an encoded slash (see paths.escaped_slashes)");
  settings.escaped_slashes = PathSettings::EscapedSlashes::Keep;
  EXPECT_EQ(normal("/a%2fb", settings), "/a%2Fb /a%2Fb");
  settings.escaped_slashes = PathSettings::EscapedSlashes::Decode;
  EXPECT_EQ(normal("/a%2fb", settings), "/a/b /a/b");
  EXPECT_EQ(normal("/x/..%2fb", settings), "/b /b");
}

TEST(NormalizedPath, BackslashesFollowTheSetting) {
  PathSettings settings;
  EXPECT_EQ(normal("/a\\b"), "the path has a backslash (see paths.backslashes)");
  EXPECT_EQ(normal("/a%5cb"), "the path has a backslash (see paths.backslashes)");
  settings.backslashes = PathSettings::Backslashes::Keep;
  EXPECT_EQ(normal("/a\\b", settings), "/a%5Cb /a%5Cb");
  settings.backslashes = PathSettings::Backslashes::Slash;
  EXPECT_EQ(normal("/x/..\\b%5c", settings), "/b/ /b/");
}

TEST(NormalizedPath, ParametersFollowTheSetting) {
  PathSettings settings;
  EXPECT_EQ(normal("/login;x"), "/login;x /login");
  EXPECT_EQ(normal("/a;v=1/b"), "/a;v=1/b /a/b");
  EXPECT_EQ(normal("/login%3bx"), "/login%3Bx /login");
  EXPECT_EQ(normal("/;x/login"), "/;x/login /login");
  settings.parameters = PathSettings::Parameters::Reject;
  EXPECT_EQ(normal("/login;x", settings), "the path has parameters (see paths.parameters)");
  settings.parameters = PathSettings::Parameters::Keep;
  EXPECT_EQ(normal("/login;x", settings), "/login;x /login;x");
}

TEST(NormalizedPath, CaseAndDoubleSlashesFollowTheSettings) {
  PathSettings settings;
  EXPECT_EQ(normal("/Login/%41"), "/Login/A /Login/A");
  settings.letter_case = PathSettings::LetterCase::Insensitive;
  EXPECT_EQ(normal("/Login/%41", settings), "/Login/A /login/a");
  EXPECT_EQ(normal("/LOGIN", settings), "/LOGIN /login");
  settings.merge_slashes = false;
  EXPECT_EQ(normal("//a//b//", settings), "//a//b// //a//b//");
}

PathSettings any_settings() {
  using Escaped = PathSettings::EscapedSlashes;
  using Backslashes = PathSettings::Backslashes;
  using Parameters = PathSettings::Parameters;
  return {
      .merge_slashes = *rc::gen::arbitrary<bool>(),
      .escaped_slashes = *rc::gen::element(Escaped::Reject, Escaped::Keep, Escaped::Decode),
      .backslashes = *rc::gen::element(Backslashes::Reject, Backslashes::Keep, Backslashes::Slash),
      .parameters = *rc::gen::element(Parameters::Ignore, Parameters::Reject, Parameters::Keep)};
}

// An upstream that normalizes once more sees the path that the rules saw.
RC_GTEST_PROP(NormalizedPathProperty, ForwardedPathNormalizesToItself, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab./%25eEfFcC37\\;?\xC3")));
  const PathSettings settings = any_settings();
  const auto once = normalized_path("/" + text, settings);
  if (std::holds_alternative<HttpError>(once)) return;
  const auto& found = std::get<NormalizedPath>(once);
  const auto twice = normalized_path(found.forwarded, settings);
  RC_ASSERT(std::holds_alternative<NormalizedPath>(twice));
  RC_ASSERT(std::get<NormalizedPath>(twice) == found);
  RC_ASSERT(found.forwarded.starts_with('/'));
  RC_ASSERT((found.forwarded + "/").find("/../") == std::string::npos);
  RC_ASSERT((found.forwarded + "/").find("/./") == std::string::npos);
}

}  // namespace
}  // namespace penstock::http
