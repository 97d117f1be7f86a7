#include "differential/random.hpp"
#include "penstock/shared_limiter.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "reference/quotas.hpp"
#include "servers/redis_server.hpp"

#include <gtest/gtest.h>

#include <string>

// Keys with data written by other programs: a script may reject them, but never hangs, and a reset
// makes the key usable again.
namespace penstock::differential {
namespace {

class Garbage : public ::testing::TestWithParam<Algorithm> {
 protected:
  static SharedLimiter limiter_on(const servers::RedisServer& server) {
    RedisOptions options;
    options.url = server.url();
    options.timeout = std::chrono::seconds{10};
    return SharedLimiter::open(options).value();
  }

  // A state with random damage.
  static std::string spoiled(Random& random, std::string bytes) {
    switch (random.below(5)) {
      case 0: bytes.resize(random.below(bytes.size() + 1)); break;
      case 1: bytes.append(1 + random.below(30), static_cast<char>(random.below(256))); break;
      case 2:
        bytes.resize(1 + random.below(100));
        for (char& byte : bytes) byte = static_cast<char>(random.below(256));
        break;
      case 3: bytes.insert(0, std::string(8, '\1')); break;
      default:
        for (std::uint64_t i = 0; i <= random.below(4); ++i) {
          bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
        }
    }
    return bytes;
  }
};

TEST_P(Garbage, IsRejectedOrParsed) {
  const servers::RedisServer server;
  servers::Session session = server.session();
  SharedLimiter limiter = limiter_on(server);
  Random random(seed() + 200 + static_cast<std::uint64_t>(GetParam()));
  const std::string key = redis_store::KeyLayout("penstock").limit("k");
  const Quota quota = reference::quota_of(10, std::chrono::hours{1}, GetParam());
  for (std::size_t i = 0; i < scaled(300); ++i) {
    for (int taken = 0; taken < 3; ++taken) ASSERT_TRUE(limiter.check("k", quota));
    const std::string bytes = spoiled(random, session.must({"GET", key}).text);
    session.must({"SET", key, bytes, "PX", "1000000"});
    for (const std::uint64_t cost : {0, 1, 2}) {
      const Result<Decision> decision = limiter.check("k", quota, Cost{cost});
      if (!decision) {
        ASSERT_EQ(decision.error().code, ErrorCode::Protocol) << decision.error().detail;
      }
    }
    const Result<Decision> refunded = limiter.refund("k", quota);
    if (!refunded) {
      ASSERT_EQ(refunded.error().code, ErrorCode::Protocol) << refunded.error().detail;
    }
    ASSERT_TRUE(limiter.unblock("k"));
    ASSERT_TRUE(limiter.reset("k"));
    ASSERT_EQ(limiter.peek("k", quota).value(), Decision::allow(10, 10, Duration{0}))
        << "PENSTOCK_SEED=" << seed();
  }
}

TEST_P(Garbage, OfAnotherTypeIsRejected) {
  const servers::RedisServer server;
  SharedLimiter limiter = limiter_on(server);
  const std::string key = redis_store::KeyLayout("penstock").limit("k");
  const Quota quota = reference::quota_of(10, std::chrono::hours{1}, GetParam());
  server.must({"RPUSH", key, "a", "b"});
  for (int i = 0; i < 10; ++i) {
    const Result<Decision> decision = limiter.check("k", quota);
    // MGET sees no value there, and SET replaces any type; a log is read as a list.
    if (!decision) {
      EXPECT_EQ(decision.error().code, ErrorCode::Protocol) << decision.error().detail;
    }
  }
  // Other keys are unaffected.
  EXPECT_TRUE(limiter.check("other", quota).value().allowed());
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Garbage, ::testing::ValuesIn(reference::kAlgorithms),
                         reference::name_of);

}  // namespace
}  // namespace penstock::differential
