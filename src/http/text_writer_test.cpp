#include "http/json_writer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::http {
namespace {

RC_GTEST_PROP(TextWriter, WritesWhatTheTextItselfWould, (std::string text)) {
  std::string expected = text;
  if (*rc::gen::arbitrary<bool>()) text.reserve(4096);
  {
    TextWriter writer(text);
    for (int steps = *rc::gen::inRange(0, 100); steps > 0; --steps) {
      const auto piece = *rc::gen::arbitrary<std::string>();
      const auto number = *rc::gen::arbitrary<std::uint64_t>();
      const auto letter = *rc::gen::arbitrary<char>();
      writer.text(piece).number(number).letter(letter);
      expected += piece + std::to_string(number) + letter;
      const auto place = *rc::gen::inRange<std::size_t>(0, expected.size());
      writer.insert(place, '+');
      expected.insert(place, 1, '+');
      writer.replace(place, letter);
      expected[place] = letter;
      RC_ASSERT(writer.size() == expected.size());
    }
  }
  RC_ASSERT(text == expected);
}

TEST(TextWriter, WritesTheLargestNumber) {
  std::string text;
  { TextWriter(text).number(~std::uint64_t{0}); }
  EXPECT_EQ(text, "18446744073709551615");
}

TEST(TextWriter, LeavesAShortTextWithoutHeap) {
  std::string text;
  const std::size_t without_heap = text.capacity();
  { TextWriter(text).number(1'000'000'000).text(" left"); }
  EXPECT_EQ(text, "1000000000 left");
  EXPECT_EQ(text.capacity(), without_heap);
}

}  // namespace
}  // namespace penstock::http
