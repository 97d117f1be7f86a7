#include "store/key_hasher.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

namespace penstock::store {
namespace {

constexpr KeyHasher::Secret kHasherSecret{11, 22};

class KeyHasherTest : public ::testing::TestWithParam<KeyHasher::Engine> {
 protected:
  KeyHasher hasher_{kHasherSecret, GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, KeyHasherTest,
                         ::testing::Values(KeyHasher::Engine::Fastest, KeyHasher::Engine::Portable),
                         [](const auto& engine) {
                           return engine.param == KeyHasher::Engine::Fastest ? "Fastest"
                                                                             : "Portable";
                         });

TEST_P(KeyHasherTest, HashesAlikeUnderOneSecretOnly) {
  EXPECT_EQ(KeyHasher(kHasherSecret, GetParam()).key("user:42"), hasher_.key("user:42"));
  EXPECT_NE(KeyHasher({12, 22}, GetParam()).key("user:42"), hasher_.key("user:42"));
  EXPECT_NE(KeyHasher({11, 23}, GetParam()).key("user:42"), hasher_.key("user:42"));
}

TEST_P(KeyHasherTest, KeepsKeysAndBothKindsOfCountersApart) {
  for (const std::string text :
       {"", "a", "user:42", "a text that is longer than one block of sixteen"}) {
    EXPECT_NE(hasher_.key(text), hasher_.counter(text));
    EXPECT_NE(hasher_.key(text), hasher_.decimal_counter(text));
    EXPECT_NE(hasher_.counter(text), hasher_.decimal_counter(text));
  }
}

TEST_P(KeyHasherTest, NamedLimitsStayInTheShardOfTheirKey) {
  for (int number = 0; number < 1000; ++number) {
    const Hash128 key = hasher_.key("user:" + std::to_string(number));
    for (const std::string name : {"per-second", "per-day"}) {
      const Hash128 limit = hasher_.limit_of(key, name);
      EXPECT_EQ(limit.high >> (64U - kShardBits), key.high >> (64U - kShardBits));
      EXPECT_NE(limit.low, key.low) << "in another place of it";
    }
  }
}

TEST_P(KeyHasherTest, NamedLimitsDifferByNameAndByKeyAndFromTheKeyItself) {
  std::unordered_set<Hash128, Hash128Bucket> seen;
  for (int number = 0; number < 1000; ++number) {
    const Hash128 key = hasher_.key("user:" + std::to_string(number));
    EXPECT_TRUE(seen.insert(key).second);
    for (const std::string name : {"per-second", "per-minute", "per-day"}) {
      EXPECT_TRUE(seen.insert(hasher_.limit_of(key, name)).second);
    }
  }
}

TEST_P(KeyHasherTest, ANamedLimitIsNotTheKeySpelledTogetherWithTheName) {
  const Hash128 limit = hasher_.limit_of(hasher_.key("user"), "name");
  for (const std::string text : {"username", "user:name", "nameuser", "name"}) {
    EXPECT_NE(limit, hasher_.key(text));
  }
}

TEST(KeyHasher, EnginesAreDifferentHashes) {
  if (!AesHash::is_supported()) GTEST_SKIP() << "this processor has only one engine";
  EXPECT_NE(KeyHasher(kHasherSecret, KeyHasher::Engine::Fastest).key("user:42"),
            KeyHasher(kHasherSecret, KeyHasher::Engine::Portable).key("user:42"));
}

TEST(KeyHasher, SecretsAreDrawnAfresh) {
  EXPECT_NE(KeyHasher::random_secret(), KeyHasher::random_secret());
}

}  // namespace
}  // namespace penstock::store
