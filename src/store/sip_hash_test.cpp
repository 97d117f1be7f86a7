#include "store/hash128.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::store {
namespace {

// 00 01 02 ... 0f
constexpr std::array<std::uint64_t, 2> kReferenceKey{0x0706050403020100U, 0x0f0e0d0c0b0a0908U};

// 00 01 02 ..., as the published vectors are hashed.
std::string message_of(std::size_t length) {
  std::string message(length, '\0');
  for (std::size_t i = 0; i < length; ++i) message[i] = static_cast<char>(i & 0xffU);
  return message;
}

std::string output_bytes(const Hash128& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t word : {hash.high, hash.low}) {
    for (unsigned byte = 0; byte < 8; ++byte) {
      const auto value = static_cast<unsigned char>(word >> (8U * byte));
      text += {kDigits[value >> 4U], kDigits[value & 15U]};
    }
  }
  return text;
}

// Below 64 bytes: the vectors published with SipHash. Above: what OpenSSL's SIPHASH says.
TEST(SipHash, GivesTheReferenceVectors) {
  const std::vector<std::pair<std::size_t, std::string>> vectors{
      {0, "a3817f04ba25a8e66df67214c7550293"},   {1, "da87c1d86b99af44347659119b22fc45"},
      {2, "8177228da4a45dc7fca38bdef60affe4"},   {3, "9c70b60c5267a94e5f33b6b02985ed51"},
      {4, "f88164c12d9c8faf7d0f6e7c7bcd5579"},   {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
      {8, "3b62a9ba6258f5610f83e264f31497b4"},   {9, "264499060ad9baabc47f8b02bb6d71ed"},
      {15, "5493e99933b0a8117e08ec0f97cfc3d9"},  {16, "6ee2a4ca67b054bbfd3315bf85230577"},
      {31, "2939b0183223fafc1723de4f52c43d35"},  {63, "5150d1772f50834a503e069a973fbd7c"},
      {255, "1c9bb67528165f8e468248e3799b0eab"}, {256, "67a00304d3834c4612eaee7b5f579acb"},
      {300, "ce005a406d14b36d5386b5f7a7e1b311"},
  };
  for (const auto& [length, expected] : vectors) {
    EXPECT_EQ(output_bytes(sip_hash(kReferenceKey, message_of(length))), expected)
        << "message of " << length << " bytes";
  }
}

TEST(SipHash, DependsOnBothWordsOfTheKey) {
  const Hash128 hash = sip_hash(kReferenceKey, "user:42");
  EXPECT_NE(sip_hash({kReferenceKey[0] ^ 1U, kReferenceKey[1]}, "user:42"), hash);
  EXPECT_NE(sip_hash({kReferenceKey[0], kReferenceKey[1] ^ 1U}, "user:42"), hash);
}

TEST(SipHash, TellsTrailingZerosApart) {
  using namespace std::string_view_literals;
  EXPECT_NE(sip_hash(kReferenceKey, "a"sv), sip_hash(kReferenceKey, "a\0"sv));
  EXPECT_NE(sip_hash(kReferenceKey, ""sv), sip_hash(kReferenceKey, "\0"sv));
}

}  // namespace
}  // namespace penstock::store
