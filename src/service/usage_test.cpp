#include "service/usage.hpp"

#include "penstock/clock.hpp"
#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "service_harness/test_service.hpp"
#include "store/sharded_table.hpp"

#include <gtest/gtest.h>

#include <random>

namespace penstock::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const core::LimitKey kKey{.subject = "s", .limit = "l"};

// A limit in virtual time.
struct UsageTest : ::testing::Test {
  Usage usage(const Quota& quota) {
    return usage_of(quota, memory.check({.name = kKey, .quota = quota, .cost = Cost{0}}));
  }
  Decision take(const Quota& quota, std::uint64_t units = 1) {
    return memory.check({.name = kKey, .quota = quota, .cost = Cost{units}});
  }

  ManualClock clock{Instant{std::chrono::hours{24}}};
  store::ShardedTable memory{{.clock = &clock}};
};

TEST_F(UsageTest, OfAFixedWindowIsTheAverageSinceItBegan) {
  constexpr Quota kQuota = per_minute(100).fixed_window();
  EXPECT_EQ(usage(kQuota).milliunits_per_second, 0U);
  EXPECT_EQ(usage(kQuota).exhausted_after, std::nullopt);
  clock.advance(seconds{10});
  take(kQuota, 30);
  const Usage now = usage(kQuota);
  EXPECT_EQ(now.limit, 100U);
  EXPECT_EQ(now.used, 30U);
  EXPECT_EQ(now.remaining, 70U);
  EXPECT_EQ(now.reset_after, seconds{50});
  EXPECT_EQ(now.retry_after, Duration{0});
  EXPECT_EQ(now.milliunits_per_second, 3'000U);
  EXPECT_EQ(now.exhausted_after, Duration{23'333'333});  // 70 units at 3 per second
  clock.advance(seconds{20});
  EXPECT_EQ(usage(kQuota).milliunits_per_second, 1'000U);
  EXPECT_EQ(usage(kQuota).exhausted_after, std::nullopt);  // the window ends before
  take(kQuota, 70);
  EXPECT_EQ(usage(kQuota).exhausted_after, Duration{0});
  EXPECT_EQ(usage(kQuota).retry_after, seconds{30});
}

TEST_F(UsageTest, TheBeginningOfAWindowIsNoRate) {
  constexpr Quota kQuota = per_minute(100).anchored_window();
  take(kQuota, 2);
  EXPECT_EQ(usage(kQuota).milliunits_per_second, 2'000U);  // in one second, not in none
  clock.advance(seconds{30});
  EXPECT_EQ(usage(kQuota).milliunits_per_second, 67U);  // 2 in 30 seconds, rounded up
}

TEST_F(UsageTest, OfSlidingAlgorithmsIsTheAverageOfTheLastPeriod) {
  for (const Quota& quota :
       {Quota{per_minute(100).sliding_log()}, Quota{per_minute(100).sliding_counter()},
        Quota{per_minute(100).sub_windows()}}) {
    static_cast<void>(memory.reset(kKey));
    take(quota, 60);
    const Usage now = usage(quota);
    EXPECT_EQ(now.used, 60U) << to_string(quota);
    EXPECT_EQ(now.milliunits_per_second, 1'000U);
    EXPECT_EQ(now.exhausted_after, std::nullopt);  // what expires makes room for as much
    take(quota, 40);
    EXPECT_EQ(usage(quota).retry_after, usage(quota).reset_after);
  }
}

TEST_F(UsageTest, OfBucketsHasNoRate) {
  for (const Quota& quota : {Quota{per_minute(60)}, Quota{per_minute(60).gcra()}}) {
    static_cast<void>(memory.reset(kKey));
    take(quota, 20);
    EXPECT_EQ(usage(quota).used, 20U);
    EXPECT_EQ(usage(quota).milliunits_per_second, std::nullopt);
    EXPECT_EQ(usage(quota).exhausted_after, std::nullopt);
  }
}

TEST_F(UsageTest, OfABlockedKeyHasNoUsage) {
  constexpr Quota kQuota = per_minute(10).fixed_window();
  take(kQuota, 4);
  memory.block(kKey, minutes{5});
  const Usage now = usage(kQuota);
  EXPECT_EQ(now.used, std::nullopt);
  EXPECT_EQ(now.remaining, 0U);
  EXPECT_EQ(now.retry_after, minutes{5});
  EXPECT_EQ(now.milliunits_per_second, std::nullopt);
}

TEST_F(UsageTest, OfALimitOfZeroNeverPasses) {
  const Usage now = usage_of(Quota::none(minutes{1}), Decision::never_fits(0, 0, seconds{20}));
  EXPECT_EQ(now.used, 0U);
  EXPECT_EQ(now.retry_after, std::nullopt);
  EXPECT_EQ(now.milliunits_per_second, std::nullopt);
}

// Where the wait is exact, it is that of a real denial, to the microsecond that a fraction may add.
TEST_F(UsageTest, TheWaitOfBucketsAndWindowsIsThatOfADenial) {
  std::mt19937 random(42);  // NOLINT(cert-msc32-c,cert-msc51-cpp): repeatable
  for (const Quota& quota : {Quota{per(7, seconds{10})}, Quota{per_minute(100).burst(13)},
                             Quota{per(3, seconds{1}).gcra()}, Quota{per_minute(5).fixed_window()},
                             Quota{per_minute(5).anchored_window()}}) {
    for (int i = 0; i < 300; ++i) {
      clock.advance(milliseconds{random() % 3'000});
      static_cast<void>(take(quota, random() % 3));
      const Usage now = usage(quota);
      const Decision asked = take(quota);
      const Duration difference = *now.retry_after - *asked.retry_after();
      EXPECT_GE(difference, Duration{0}) << to_string(quota) << " step " << i;
      EXPECT_LE(difference, Duration{1}) << to_string(quota) << " step " << i;
    }
  }
}

TEST_F(UsageTest, LargeNumbersDoNotOverflow) {
  constexpr Quota kQuota = per(1'000'000'000, Days{366}).fixed_window();
  const Usage now = usage_of(kQuota, Decision::allow(1'000'000'000, 1, Days{366} - seconds{1}));
  EXPECT_EQ(now.milliunits_per_second, 999'999'999'000U);
  EXPECT_EQ(now.exhausted_after, Duration{0});
}

// The service: one store call for all limits, and no key is created.
struct ServiceUsageTest : ::testing::Test {
  Result<Answer> usage(std::vector<rules::Attribute> entries) {
    std::optional<Result<Answer>> answer;
    service.usage({.domain = "api", .descriptors = {{.entries = std::move(entries)}}}, {},
                  [&](const Result<Answer>& said) { answer = said; });
    return *answer;
  }
  static std::shared_ptr<const rules::Ruleset> load() {
    return rules::load_text(R"(
domains:
  api:
    allow: [{name: friends, when: {user: friend}}]
    deny: [{name: enemies, when: {user: enemy}}]
    rules:
      - {name: per-user, key: [user], limits: {minute: 5/m, day: 100/d fixed_window}}
      - {name: trial, key: [user], limit: 1/d, shadow: true}
)",
                            "p.yaml")
        .configuration.value()
        .rules;
  }
  TestService parts;
  Service service{parts.deps(), load()};
};

TEST_F(ServiceUsageTest, ReadsAllLimitsInOneCallWithoutCharging) {
  const Result<Answer> answer = usage({{"user", "a"}});
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->limits.size(), 3U);
  ASSERT_EQ(parts.store.calls.size(), 1U);
  EXPECT_EQ(parts.store.calls[0].checks.size(), 3U);
  for (const core::NamedCheck& check : parts.store.calls[0].checks) EXPECT_EQ(check.cost.units, 0U);
  EXPECT_EQ(answer->limits[0].decision->remaining(), 5U);
  EXPECT_TRUE(answer->limits[2].shadow);
  EXPECT_EQ(answer->reason, Reason::WithinLimits);
  EXPECT_TRUE(parts.events.answers.empty());
}

// The store needs the terms to know who counts: a node, or Redis.
TEST_F(ServiceUsageTest, PeeksWithTheTermsOfTheRule) {
  service.use(
      rules::load_text("domains: {api: {rules: [{name: here, key: [user], limit: 5/m, mode: "
                       "local, share: nodes}]}}",
                       "p.yaml")
          .configuration.value()
          .rules);
  const rules::Request request{.domain = "api", .descriptors = {{.entries = {{"user", "a"}}}}};
  ASSERT_TRUE(usage({{"user", "a"}}).has_value());
  service.explain(request, {}, [](const auto& /*said*/) {});
  const core::SharingTerms terms{.mode = core::Mode::Local, .divided = true};
  ASSERT_EQ(parts.store.calls.size(), 2U);
  for (const TestStore::Call& call : parts.store.calls) EXPECT_EQ(call.checks.at(0).terms, terms);
  const auto limits = service.limits_of_rule("api", "here", "user=a");
  ASSERT_TRUE(limits.has_value());
  EXPECT_EQ(limits->limits.at(0).matched.check.terms, terms);
  EXPECT_EQ(service.limits_of_domain("api", "user=a")->limits.at(0).matched.check.terms, terms);
}

TEST(DecisionFromPeek, ACostAboveTheShareOfThisNodeNeverFits) {
  const Decision share = Decision::allow(25, 25, Duration{0});
  EXPECT_EQ(decision_from_peek(share, per_minute(100), Cost{26}).outcome(), Outcome::NeverFits);
  EXPECT_TRUE(decision_from_peek(share, per_minute(100), Cost{25}).allowed());
  const Decision used = Decision::allow(25, 5, seconds{12});
  EXPECT_EQ(decision_from_peek(used, per_minute(100), Cost{6}).outcome(), Outcome::Denied);
}

TEST_F(ServiceUsageTest, SaysWhetherARequestWouldPass) {
  parts.store.take({"user=a", "api/per-user/minute"}, per_minute(5), 5);
  EXPECT_EQ(usage({{"user", "a"}})->reason, Reason::OverLimit);
  parts.store.take({"user=b", "api/trial"}, per_day(1), 1);
  EXPECT_EQ(usage({{"user", "b"}})->reason, Reason::WithinLimits);  // a shadow limit
}

TEST_F(ServiceUsageTest, ListsAndUnknownAttributesHaveNoLimits) {
  EXPECT_EQ(usage({{"user", "friend"}})->reason, Reason::AllowListed);
  EXPECT_EQ(usage({{"user", "enemy"}})->reason, Reason::DenyListed);
  EXPECT_EQ(usage({{"other", "x"}})->reason, Reason::NoRule);
  EXPECT_TRUE(parts.store.calls.empty());
}

TEST_F(ServiceUsageTest, FailsWithoutTheStore) {
  parts.store.failure = Error{ErrorCode::Unavailable, "down"};
  const Result<Answer> answer = usage({{"user", "a"}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().detail, "down");
}

TEST(UsageKeys, AMemoryStoreKeepsNoKeyOfAPeek) {
  ManualClock clock;
  store::ShardedTable memory{{.clock = &clock}};
  for (int i = 0; i < 100; ++i) {
    static_cast<void>(memory.check({.name = {.subject = std::to_string(i), .limit = "l"},
                                    .quota = per_minute(5).fixed_window(),
                                    .cost = Cost{0}}));
  }
  EXPECT_EQ(memory.stats().keys, 0U);
}

}  // namespace
}  // namespace penstock::service
