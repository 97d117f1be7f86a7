#include "base/text_hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

namespace penstock::base {
namespace {

RC_GTEST_PROP(TextHash, IsTheSameForTheSameTextWhereverItStands, (const std::string& text)) {
  const std::string moved = "x" + text;
  RC_ASSERT(TextHash{}(text) == TextHash{}(std::string_view(moved).substr(1)));
}

RC_GTEST_PROP(TextHash, ChangesWithEveryByte, (std::string text)) {
  RC_PRE(!text.empty());
  const std::size_t before = TextHash{}(text);
  const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
  text[place] = static_cast<char>(text[place] ^ (1 << *rc::gen::inRange(0, 8)));
  RC_ASSERT(TextHash{}(text) != before);
}

TEST(TextHash, TellsZerosOfEveryLengthApart) {
  std::set<std::size_t> hashes;
  for (std::size_t length = 0; length < 100; ++length) {
    hashes.insert(TextHash{}(std::string(length, '\0')));
  }
  EXPECT_EQ(hashes.size(), 100U);
}

// Keys as clients have them, counted in 64 places by the lowest bits and by the highest. The bound
// is ten standard deviations away.
TEST(TextHash, SpreadsNumberedKeysEvenlyInAllBits) {
  constexpr int kKeys = 64'000;
  std::array<int, 64> low{};
  std::array<int, 64> high{};
  for (int i = 0; i < kKeys; ++i) {
    const std::uint64_t hash = TextHash{}("api_key=" + std::to_string(i));
    ++low[hash % 64];
    ++high[hash >> 58U];
  }
  for (std::size_t place = 0; place < 64; ++place) {
    EXPECT_NEAR(low[place], kKeys / 64, 320);
    EXPECT_NEAR(high[place], kKeys / 64, 320);
  }
}

}  // namespace
}  // namespace penstock::base
