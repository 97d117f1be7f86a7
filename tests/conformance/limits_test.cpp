#include "base/monotonic_time.hpp"
#include "conformance/suite.hpp"
#include "servers/wait.hpp"

#include <array>
#include <limits>
#include <set>

// Checks of a single limit.
namespace penstock::conformance {
namespace {

using std::chrono::milliseconds;

class OneLimit : public Conformance {};

TEST_P(OneLimit, AdmitsExactlyItsLimitWithEveryAlgorithm) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const std::string key(to_string(algorithm));
    const Quota quota = long_quota(5, algorithm);
    for (std::uint32_t left = 5; left > 0; --left) {
      const Decision decision = check(key, quota);
      EXPECT_TRUE(decision.allowed());
      EXPECT_EQ(decision.limit(), 5U);
      EXPECT_EQ(decision.remaining(), left - 1);
      EXPECT_EQ(decision.retry_after(), Duration{0});
      EXPECT_GT(decision.reset_after(), Duration{0});
    }
    const Decision denied = check(key, quota);
    EXPECT_EQ(denied.outcome(), Outcome::Denied);
    EXPECT_EQ(denied.remaining(), 0U);
    ASSERT_TRUE(denied.retry_after());
    EXPECT_GT(*denied.retry_after(), Duration{0});
    EXPECT_LE(*denied.retry_after(), 2 * kLong);
    EXPECT_EQ(check(key + " of another", quota).remaining(), 4U);
  }
}

TEST_P(OneLimit, DeniesUntilRetryAfterAndAllowsThen) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const std::string key(to_string(algorithm));
    const Quota quota = reference::quota_of(2, milliseconds{120}, algorithm);
    auto asked = base::monotonic_now();
    Decision denied;
    for (int i = 0; i < 1000 && denied.outcome() != Outcome::Denied; ++i) {
      asked = base::monotonic_now();
      denied = check(key, quota);
    }
    ASSERT_EQ(denied.outcome(), Outcome::Denied);
    servers::wait_until("the wait to end", [&] { return takes(key, quota); });
    // The store's clock may run slightly faster than ours.
    const Duration tolerance = std::max(*denied.retry_after() / 100, Duration{1000});
    EXPECT_GE(base::monotonic_now() - asked, *denied.retry_after() - tolerance);
  }
}

TEST_P(OneLimit, PeeksWithoutCharging) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const std::string key(to_string(algorithm));
    const Quota quota = long_quota(3, algorithm);
    EXPECT_EQ(check(key, quota, 0), Decision::allow(3, 3, Duration{0}));
    EXPECT_EQ(check(key, quota, 0), Decision::allow(3, 3, Duration{0}));
    EXPECT_TRUE(takes(key, quota, 3));
    const Decision look = check(key, quota, 0);
    EXPECT_EQ(look.outcome(), Outcome::Denied);
    EXPECT_EQ(look.remaining(), 0U);
  }
}

TEST_P(OneLimit, DistinguishesNeverFitsFromDenied) {
  constexpr std::array<std::uint64_t, 4> kTooMuch{11, std::uint64_t{1} << 32U,
                                                  std::uint64_t{1} << 53U,
                                                  std::numeric_limits<std::uint64_t>::max()};
  for (const Algorithm algorithm : reference::kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const std::string key(to_string(algorithm));
    const Quota quota = long_quota(10, algorithm);
    EXPECT_TRUE(takes(key, quota, 4));
    for (const std::uint64_t cost : kTooMuch) {
      const Decision never = check(key, quota, cost);
      EXPECT_EQ(never.outcome(), Outcome::NeverFits) << cost;
      EXPECT_EQ(never.retry_after(), std::nullopt);
      EXPECT_EQ(never.remaining(), 6U);
    }
    EXPECT_EQ(check(key, quota, 7).outcome(), Outcome::Denied);
    EXPECT_TRUE(takes(key, quota, 6));
  }
}

TEST_P(OneLimit, AcceptsTheLargestNumbers) {
  const Quota bucket = per(1'000'000'000, Days{366});
  EXPECT_EQ(check("bucket", bucket, 1'000'000'000).remaining(), 0U);
  EXPECT_EQ(check("bucket", bucket, 1'000'000'000).outcome(), Outcome::Denied);
  const Quota slow = per(1, Days{366}).burst(99).gcra();
  EXPECT_EQ(check("slow", slow, 99).remaining(), 0U);
  const Decision denied = check("slow", slow, 99);
  EXPECT_GT(*denied.retry_after(), Days{98 * 366});
  const Quota window = per(1'000'000'000, kLong).fixed_window();
  EXPECT_EQ(check("window", window, 999'999'999).remaining(), 1U);
  const Quota odd = per(999'999'937, milliseconds{86'399'999}).burst(7);
  EXPECT_EQ(check("odd", odd, 7).limit(), 7U);
  const Quota log = per(10'000, kLong).sliding_log();
  EXPECT_EQ(check("log", log, 10'000).remaining(), 0U);
  EXPECT_EQ(check("log", log).outcome(), Outcome::Denied);
}

TEST_P(OneLimit, RefundsNoMoreThanWasUsed) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const std::string key(to_string(algorithm));
    const Quota quota = long_quota(10, algorithm);
    EXPECT_EQ(must(limiter().refund(key, quota, Cost{1})).remaining(), 10U);
    EXPECT_TRUE(takes(key, quota, 8));
    EXPECT_EQ(must(limiter().refund(key, quota, Cost{3})).remaining(), 5U);
    EXPECT_EQ(must(limiter().refund(key, quota, Cost{0})).remaining(), 5U);
    EXPECT_EQ(must(limiter().refund(key, quota, Cost{~std::uint64_t{0}})).remaining(), 10U);
    EXPECT_TRUE(takes(key, quota, 10));
    EXPECT_FALSE(takes(key, quota));
  }
}

TEST_P(OneLimit, IsEmptyAfterAReset) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const std::string key(to_string(algorithm));
    const Quota quota = long_quota(2, algorithm);
    EXPECT_FALSE(must(limiter().reset(key)));
    EXPECT_TRUE(takes(key, quota, 2));
    EXPECT_TRUE(must(limiter().reset(key)));
    EXPECT_FALSE(must(limiter().reset(key)));
    EXPECT_EQ(remaining(key, quota), 2U);
  }
}

TEST_P(OneLimit, DeniesWhileBlocked) {
  using std::chrono::hours;
  for (const Algorithm algorithm : reference::kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const std::string key(to_string(algorithm));
    const Quota quota = long_quota(5, algorithm);
    EXPECT_FALSE(must(limiter().unblock(key)));
    EXPECT_TRUE(takes(key, quota, 2));
    EXPECT_TRUE(limiter().block(key, hours{1}));
    for (const std::uint64_t cost : {0, 1, 6}) {
      const Decision blocked = check(key, quota, cost);
      EXPECT_EQ(blocked.outcome(), Outcome::Blocked);
      EXPECT_EQ(blocked.limit(), 5U);
      EXPECT_EQ(blocked.remaining(), 0U);
      EXPECT_LE(*blocked.retry_after(), Duration{hours{1}});
      EXPECT_GT(*blocked.retry_after(), Duration{hours{1}} - servers::kTestTimeout);
    }
    // Blocking again replaces the duration.
    EXPECT_TRUE(limiter().block(key, hours{3}));
    EXPECT_GT(*check(key, quota).retry_after(), Duration{hours{2}});
    EXPECT_TRUE(must(limiter().unblock(key)));
    EXPECT_FALSE(must(limiter().unblock(key)));
    EXPECT_EQ(remaining(key, quota), 3U);
  }
}

TEST_P(OneLimit, StaysBlockedAfterAReset) {
  const Quota quota = long_quota(5, Algorithm::TokenBucket);
  EXPECT_TRUE(takes("k", quota, 2));
  EXPECT_TRUE(limiter().block("k", std::chrono::hours{1}));
  EXPECT_TRUE(must(limiter().reset("k")));
  EXPECT_EQ(check("k", quota).outcome(), Outcome::Blocked);
  EXPECT_TRUE(limiter().block("k", Duration{-1}));
  EXPECT_EQ(remaining("k", quota), 5U);
}

TEST_P(OneLimit, IsUnblockedWhenTheBlockExpires) {
  const Quota quota = long_quota(5, Algorithm::FixedWindow);
  EXPECT_TRUE(takes("k", quota, 2));
  EXPECT_TRUE(limiter().block("k", milliseconds{100}));
  servers::wait_until("the block to end", [&] { return takes("k", quota); });
  EXPECT_EQ(remaining("k", quota), 2U);
  EXPECT_TRUE(limiter().block("untouched", milliseconds{100}));
  servers::wait_until("the block to end", [&] { return takes("untouched", quota); });
  EXPECT_EQ(remaining("untouched", quota), 4U);
}

TEST_P(OneLimit, IsUnblockedByABlockOfZeroDuration) {
  const Quota quota = long_quota(5, Algorithm::SlidingCounter);
  EXPECT_TRUE(takes("k", quota, 2));
  for (const Duration no_time : {Duration{0}, Duration{-1}, Duration::min()}) {
    EXPECT_TRUE(limiter().block("k", std::chrono::hours{1}));
    EXPECT_EQ(check("k", quota).outcome(), Outcome::Blocked);
    EXPECT_TRUE(limiter().block("k", no_time));
    EXPECT_EQ(remaining("k", quota), 3U);
    EXPECT_FALSE(must(limiter().unblock("k")));
    EXPECT_TRUE(limiter().block("never blocked", no_time));
    EXPECT_FALSE(must(limiter().unblock("never blocked")));
  }
}

TEST_P(OneLimit, IsBlockedForACenturyAtMost) {
  const Quota quota = long_quota(5, Algorithm::Gcra);
  EXPECT_TRUE(limiter().block("k", Duration::max()));
  const Decision blocked = check("k", quota);
  EXPECT_EQ(blocked.outcome(), Outcome::Blocked);
  EXPECT_LE(*blocked.retry_after(), Days{36'525});
  EXPECT_GT(*blocked.retry_after(), Days{36'524});
}

TEST_P(OneLimit, KeepsSimilarKeysApart) {
  const Quota quota = long_quota(1, Algorithm::TokenBucket);
  using namespace std::string_literals;
  const std::vector<std::string> keys{""s,
                                      " "s,
                                      "  "s,
                                      "\t"s,
                                      "\r\n"s,
                                      "\0"s,
                                      "\0\0"s,
                                      "a\0b"s,
                                      "a"s,
                                      "A"s,
                                      "a "s,
                                      " a"s,
                                      "%"s,
                                      "%%"s,
                                      "%20"s,
                                      "%25"s,
                                      "{"s,
                                      "}"s,
                                      "{}"s,
                                      "{a}"s,
                                      "{a}b"s,
                                      "a}:{b"s,
                                      "a:b"s,
                                      "a}:b"s,
                                      "#"s,
                                      "*"s,
                                      "?[a]\\"s,
                                      "\xff\xfe"s,
                                      "\xc3\xa4\xc3\xb6\xc3\xbc \xe2\x82\xac \xf0\x9f\x9a\xb0"s,
                                      std::string(10'000, 'x'),
                                      std::string(10'000, 'x') + "y",
                                      std::string(200, 'x'),
                                      std::string(201, 'x'),
                                      std::string(100, ' '),
                                      std::string(101, ' '),
                                      std::string(10'000, '\0')};
  ASSERT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
  for (const std::string& key : keys) EXPECT_TRUE(takes(key, quota)) << key;
  for (const std::string& key : keys) EXPECT_FALSE(takes(key, quota)) << key;
  EXPECT_TRUE(must(limiter().reset(keys[3])));
  EXPECT_TRUE(takes(keys[3], quota));
}

TEST_P(OneLimit, KeepsUsageWhenTheQuotaChanges) {
  for (const Algorithm from : reference::kAlgorithms) {
    for (const Algorithm to : reference::kAlgorithms) {
      const std::string key = std::string(to_string(from)) + " to " + std::string(to_string(to));
      SCOPED_TRACE(key);
      EXPECT_TRUE(takes(key, long_quota(10, from), 4));
      // A peek changes nothing.
      EXPECT_EQ(remaining(key, long_quota(20, to)), 16U);
      EXPECT_EQ(remaining(key, long_quota(10, from)), 6U);
      // A charge does.
      EXPECT_EQ(check(key, long_quota(20, to), 10).remaining(), 6U);
      EXPECT_EQ(check(key, long_quota(5, to)).outcome(), Outcome::Denied);
      EXPECT_EQ(remaining(key, long_quota(5, to)), 0U);
    }
  }
}

TEST_P(OneLimit, LeavesNoKeyBehindWhenItExpires) {
  for (const Algorithm algorithm : reference::kAlgorithms) {
    const Quota quota = reference::quota_of(3, milliseconds{50}, algorithm);
    EXPECT_TRUE(takes(to_string(algorithm), quota, 3));
  }
  servers::wait_until("the keys to go", [&] {
    const auto servers = backend().servers();
    return std::all_of(servers.begin(), servers.end(), [this](const servers::RedisServer* server) {
      return servers::keys_of(*server, prefix() + ":").empty();
    });
  });
  for (const Algorithm algorithm : reference::kAlgorithms) {
    const Quota quota = reference::quota_of(3, milliseconds{50}, algorithm);
    servers::wait_until("all to be there again",
                        [&] { return remaining(to_string(algorithm), quota) == 3; });
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, OneLimit, ::testing::ValuesIn(kBackendKinds), name_of);

}  // namespace
}  // namespace penstock::conformance
