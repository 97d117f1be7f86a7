#include "redis_store/replay/state_codec.hpp"

#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::redis_store {
namespace {

using std::chrono::seconds;

constexpr Instant kNow{Days{20'000}};

class StateCodec : public ::testing::TestWithParam<Algorithm> {
 protected:
  // After a few requests at different times.
  [[nodiscard]] KeyContent used_key() const {
    KeyContent content{.quota = reference::ten_in_ten_seconds(GetParam()), .expires_ms = 123};
    for (int i = 0; i < 4; ++i) {
      static_cast<void>(core::decide(content.state, *content.quota, Cost{2}, kNow + seconds{i}));
    }
    return content;
  }
};

TEST_P(StateCodec, ReadsWhatItWrote) {
  const KeyContent content = used_key();
  const std::optional<KeyContent> read = decode(encode(content));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read->quota, *content.quota);
  EXPECT_EQ(read->state, content.state);
  EXPECT_EQ(read->expires_ms, 123);
  EXPECT_EQ(read->blocked_until, Instant{});
}

TEST_P(StateCodec, KeepsTheStateAfterABlock) {
  KeyContent content = used_key();
  content.blocked_until = kNow + seconds{30};
  const std::optional<KeyContent> read = decode(encode(content));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->blocked_until, kNow + seconds{30});
  EXPECT_EQ(read->state, content.state);
}

TEST_P(StateCodec, RejectsEveryTruncatedState) {
  const std::string bytes = encode(used_key());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode(bytes + "x"));
}

INSTANTIATE_TEST_SUITE_P(All, StateCodec, ::testing::ValuesIn(reference::kAlgorithms),
                         reference::name_of);

TEST(StateCodecSizes, MatchTheDocumentation) {
  const auto size_of = [](const Quota& quota) {
    KeyContent content{.quota = quota};
    static_cast<void>(core::decide(content.state, quota, Cost{1}, kNow));
    return encode(content).size();
  };
  EXPECT_EQ(size_of(per_minute(100)), 39U);
  EXPECT_EQ(size_of(per_minute(100).gcra()), 32U);
  EXPECT_EQ(size_of(per_minute(100).fixed_window()), 32U);
  EXPECT_EQ(size_of(per_minute(100).sliding_counter()), 36U);
  EXPECT_EQ(size_of(per_minute(100).sub_windows(20)), 28U + 4 * 21U);
  EXPECT_EQ(size_of(per_minute(100).sliding_log()), 40U + 11U);
}

TEST(StateCodecHeader, DistinguishesQuotas) {
  const StateHeader header = header_of(per_minute(100).burst(20));
  EXPECT_NE(header, header_of(per_minute(100)));
  EXPECT_NE(header, header_of(per_minute(101).burst(20)));
  EXPECT_NE(header, header_of(per_hour(100).burst(20)));
  EXPECT_NE(header, header_of(per_minute(100).burst(20).gcra()));
  EXPECT_EQ(header, header_of(per(100, seconds{60}).burst(20)));
}

TEST(StateCodecBlock, MayHaveNoState) {
  const KeyContent blocked{.blocked_until = kNow};
  const std::string bytes = encode(blocked);
  EXPECT_EQ(bytes.size(), 8U);
  const std::optional<KeyContent> read = decode(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->blocked_until, kNow);
  EXPECT_FALSE(read->quota);
}

TEST(StateCodecHeader, RejectsAnInvalidQuota) {
  const Quota quota = per_minute(100);
  std::string bytes = encode(KeyContent{.quota = quota, .state = core::TokenBucket::State{}});
  ASSERT_TRUE(decode(bytes));
  bytes[1] = bytes[2] = bytes[3] = bytes[4] = 0;  // a limit of zero
  EXPECT_FALSE(decode(bytes));
}

TEST(StateCodecEscrow, ReadsOnlyWhatItWrote) {
  const core::Escrow escrow{.epoch = 17'000'000'000,
                            .current = 1'000'000'000,
                            .previous = 7,
                            .lifetime = std::chrono::milliseconds{100}};
  std::string bytes = encode(escrow);
  EXPECT_EQ(bytes.size(), 23U);
  EXPECT_EQ(decode_escrow(bytes), escrow);
  EXPECT_EQ(decode_escrow(bytes + "x"), std::nullopt);
  EXPECT_EQ(decode_escrow(encode(core::Escrow{})), std::nullopt) << "no lifetime";
  bytes[0] = 17;
  EXPECT_EQ(decode_escrow(bytes), std::nullopt) << "another version";
}

}  // namespace
}  // namespace penstock::redis_store
