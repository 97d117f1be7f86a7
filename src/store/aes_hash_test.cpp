#include "store/hash128.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>
#include <vector>

namespace penstock::store {
namespace {

constexpr std::array<std::uint64_t, 2> kSecret{0x0123456789abcdefU, 0xfedcba9876543210U};
constexpr std::size_t kMaxLength = 300;

class AesHashTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!AesHash::is_supported()) GTEST_SKIP() << "this processor has no AES instructions";
  }

  // The text in memory of exactly its size, so that the address sanitizer sees a read beyond it.
  [[nodiscard]] Hash128 hash(const std::string& text, std::uint64_t purpose = 0) const {
    const std::vector<char> exact(text.begin(), text.end());
    return hash_({exact.data(), exact.size()}, purpose);
  }

  AesHash hash_{kSecret};
};

class Seen {
 public:
  // Whether this hash is new.
  bool add(const Hash128& hash) { return seen_.insert(hash).second; }

 private:
  std::unordered_set<Hash128, Hash128Bucket> seen_;
};

TEST_F(AesHashTest, IsTheSameForTheSameText) {
  EXPECT_EQ(hash("user:42"), hash("user:42"));
  EXPECT_EQ(AesHash(kSecret)("user:42", 0), hash("user:42"));
}

TEST_F(AesHashTest, TellsEveryLengthOfOneByteApart) {
  for (const char byte : {'\0', 'a', '\xff'}) {
    Seen seen;
    for (std::size_t length = 0; length <= kMaxLength; ++length) {
      EXPECT_TRUE(seen.add(hash(std::string(length, byte)))) << length << " times the same byte";
    }
  }
}

TEST_F(AesHashTest, DependsOnEveryByteAtEveryLength) {
  for (std::size_t length = 1; length <= kMaxLength; ++length) {
    Seen seen;
    std::string text(length, 'x');
    seen.add(hash(text));
    for (char& byte : text) {
      byte = 'y';
      EXPECT_TRUE(seen.add(hash(text))) << "length " << length;
      byte = 'x';
    }
  }
}

TEST_F(AesHashTest, FlipsAboutHalfOfTheBitsWhenOneBitOfTheTextFlips) {
  for (const std::size_t length : {1U, 3U, 7U, 13U, 16U, 17U, 33U, 150U}) {
    int flipped = 0;
    int pairs = 0;
    std::string text(length, 'k');
    const Hash128 before = hash(text);
    for (std::size_t at = 0; at < length; ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        text[at] = static_cast<char>(text[at] ^ (1 << bit));
        const Hash128 after = hash(text);
        text[at] = 'k';
        flipped += std::popcount(before.high ^ after.high) + std::popcount(before.low ^ after.low);
        ++pairs;
      }
    }
    // 8 pairs at the least: 1024 bits, of which 512 are expected with a deviation of 16
    EXPECT_NEAR(static_cast<double>(flipped) / (128.0 * pairs), 0.5, 0.08) << "length " << length;
  }
}

TEST_F(AesHashTest, NeverGivesOneHashToTwoSimilarTexts) {
  Seen seen;
  for (int number = 0; number < 100'000; ++number) {
    const std::string digits = std::to_string(number);
    ASSERT_TRUE(seen.add(hash("user:" + digits)));
    ASSERT_TRUE(seen.add(hash("/api/v1/organisations/" + digits + "/members")));
  }
}

TEST_F(AesHashTest, NoticesSwappedBlocks) {
  const std::string first(16, 'a');
  const std::string second(16, 'b');
  const std::string third(16, 'c');
  EXPECT_NE(hash(first + second + third), hash(second + first + third));
  EXPECT_NE(hash(first + second + third), hash(first + third + second));
  // beyond the masks that are made in advance
  const std::string head(16 * 9, 'x');
  EXPECT_NE(hash(head + first + second), hash(head + second + first));
}

TEST_F(AesHashTest, PairsOfEqualBlocksDoNotCancel) {
  Seen seen;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    EXPECT_TRUE(seen.add(hash(std::string(64, letter))));
    EXPECT_TRUE(seen.add(hash(std::string(320, letter))));
  }
}

TEST_F(AesHashTest, DependsOnPurposeAndOnBothWordsOfTheSecret) {
  for (const std::size_t length : {0U, 5U, 16U, 17U, 40U}) {
    const std::string text(length, 'k');
    Seen seen;
    EXPECT_TRUE(seen.add(hash(text)));
    for (const std::uint64_t purpose : {1U, 2U, 3U}) EXPECT_TRUE(seen.add(hash(text, purpose)));
    EXPECT_TRUE(seen.add(AesHash({kSecret[0] ^ 1U, kSecret[1]})(text, 0)));
    EXPECT_TRUE(seen.add(AesHash({kSecret[0], kSecret[1] ^ 1U})(text, 0)));
  }
}

// Pearson's statistic over 256 bins has mean 255 and deviation 22.6; far off on either side means
// that texts as clients send them cluster, or are spread more evenly than chance would.
TEST_F(AesHashTest, SpreadsEveryByteOfTheHashEvenly) {
  constexpr int kTexts = 64 * 1024;
  std::vector<Hash128> hashes;
  for (int number = 0; number < kTexts; ++number)
    hashes.push_back(hash("user:" + std::to_string(number)));
  for (unsigned shift = 0; shift < 128; shift += 8) {
    std::array<int, 256> bins{};
    for (const Hash128& each : hashes) {
      const std::uint64_t word = shift < 64 ? each.low : each.high;
      ++bins[(word >> (shift % 64)) & 0xffU];
    }
    double statistic = 0;
    constexpr double kExpected = kTexts / 256.0;
    for (const int bin : bins) statistic += (bin - kExpected) * (bin - kExpected) / kExpected;
    EXPECT_GT(statistic, 255 - 5 * 22.6) << "bits " << shift << " and up";
    EXPECT_LT(statistic, 255 + 5 * 22.6) << "bits " << shift << " and up";
  }
}

// The table's home positions come from these bits.
TEST_F(AesHashTest, FillsBinsOfTheUpperHalfOfLowAsChanceWould) {
  constexpr std::size_t kBins = 4096;
  std::vector<int> bins(kBins);
  for (std::size_t number = 0; number < 16 * kBins; ++number) {
    ++bins[hash("key-" + std::to_string(number)).low >> 52U];
  }
  double statistic = 0;
  for (const int bin : bins) statistic += (bin - 16.0) * (bin - 16.0) / 16.0;
  // mean 4095, deviation 90.5
  EXPECT_NEAR(statistic, 4095, 5 * 90.5);
}

}  // namespace
}  // namespace penstock::store
