#include "rules/envoy/envoy_fields.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdio>
#include <limits>

namespace penstock::rules {
namespace {

EnvoyScalar scalar(std::string_view word) {
  Diagnostics diagnostics;
  const auto document = YamlDocument::parse(word, "word.yaml", diagnostics);
  return scalar_of(YamlNode(*document));
}

TEST(EnvoyScalars, DistinguishNumbersBooleansAndTexts) {
  for (const auto* word : {"7", "-7", "+7", "1_000", "0x1F", "0b101", "017", "0o17", "0"}) {
    EXPECT_EQ(scalar(word), EnvoyScalar::Integer) << word;
  }
  for (const auto* word : {"1.5", "0.5", "1.", ".5", "-0.25", "1e3", "1.5E-3", "08", "1_0.5",
                           ".inf", "-.Inf", ".NaN", "99999999999999999999"}) {
    EXPECT_EQ(scalar(word), EnvoyScalar::Float) << word;
  }
  for (const auto* word : {"true", "False", "TRUE"}) {
    EXPECT_EQ(scalar(word), EnvoyScalar::Boolean) << word;
  }
  for (const auto* word :
       {"abc",        "yes",   "on",  "1.2.3", "10.0.0.1", "1a",   "0xZZ",    "x7",
        "e3",         "1e",    ".",   "-",     "_",        "'7'",  "\"1.5\"", "\"true\"",
        "2026-01-31", "12:30", "--7", "+",     "0x",       "0x-1", "-+1"}) {
    EXPECT_EQ(scalar(word), EnvoyScalar::Text) << word;
  }
}

TEST(EnvoyScalars, ReadTheManyWordsForTrueAndFalse) {
  for (const auto* word : {"y", "Y", "yes", "YES", "on", "On", "true", "True"}) {
    EXPECT_EQ(envoy_boolean(word), true) << word;
  }
  for (const auto* word : {"n", "N", "no", "NO", "off", "Off", "false", "False"}) {
    EXPECT_EQ(envoy_boolean(word), false) << word;
  }
  EXPECT_EQ(envoy_boolean("maybe"), std::nullopt);
  EXPECT_EQ(envoy_boolean("1"), std::nullopt);
}

RC_GTEST_PROP(EnvoyScalars, EveryIntegerIsReadBack, (std::int64_t number)) {
  RC_ASSERT(envoy_integer(std::to_string(number)) == number);
  if (number < 0) return;
  std::array<char, 32> hex{};
  std::snprintf(hex.data(), hex.size(), "0x%llX", static_cast<unsigned long long>(number));
  RC_ASSERT(envoy_integer(hex.data()) == number);
  std::array<char, 32> octal{};
  std::snprintf(octal.data(), octal.size(), "0%llo", static_cast<unsigned long long>(number));
  RC_ASSERT(envoy_integer(octal.data()) == number);
}

TEST(EnvoyScalars, ReachTheEndsOfTheirRange) {
  EXPECT_EQ(envoy_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(envoy_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(envoy_integer("9223372036854775808"), std::nullopt);
}

}  // namespace
}  // namespace penstock::rules
