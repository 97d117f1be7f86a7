#include "rules/yaml/yaml_document.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

TEST(Utf8, AcceptsEveryCharacterThatThereIs) {
  for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    if (code < 0x80) {
      text = {static_cast<char>(code)};
    } else if (code < 0x800) {
      text = {static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3FU))};
    } else if (code < 0x10000) {
      text = {static_cast<char>(0xE0U | code >> 12U),
              static_cast<char>(0x80U | (code >> 6U & 0x3FU)),
              static_cast<char>(0x80U | (code & 0x3FU))};
    } else {
      text = {static_cast<char>(0xF0U | code >> 18U),
              static_cast<char>(0x80U | (code >> 12U & 0x3FU)),
              static_cast<char>(0x80U | (code >> 6U & 0x3FU)),
              static_cast<char>(0x80U | (code & 0x3FU))};
    }
    ASSERT_TRUE(is_utf8("a" + text + "z")) << code;
    if (code >= 0x80) {
      ASSERT_FALSE(is_utf8(text.substr(0, text.size() - 1))) << code;
    }
  }
}

TEST(Utf8, RejectsEverythingElse) {
  for (const std::string_view text :
       {"\x80", "\xBF", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF",
        "a\xC3(", "\xE2\x82", "\xE2(\xA1", "\xF0\x28\x8C\xBC"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

}  // namespace
}  // namespace penstock::rules
