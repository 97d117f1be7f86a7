#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

// Several limits for one request.
namespace penstock::store {
namespace {

using reference::kAlgorithms;
using reference::ManualStore;
using reference::quota_of;
using reference::ten_in_ten_seconds;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Keys and quotas of one request, with all that a look at each of them tells.
class ShardedTableCheckAll : public ::testing::Test {
 protected:
  Decision ask(const std::vector<Check>& checks) {
    each_.assign(checks.size(), Decision{});
    return store_.store.check_all(checks, each_);
  }
  [[nodiscard]] std::vector<Decision> look(const std::vector<Check>& checks) {
    std::vector<Decision> seen;
    for (const Check& check : checks) seen.push_back(store_.peek(check.key, check.quota));
    return seen;
  }

  ManualStore store_;
  std::vector<Decision> each_;
};

constexpr Quota kTen = per_minute(10).fixed_window();
constexpr Quota kFive = per_minute(5).fixed_window();
constexpr Quota kHourly = per_hour(3).fixed_window();

TEST_F(ShardedTableCheckAll, ChargesEachWhenAllPass) {
  const Decision decision = ask({{"a", kTen, {2}}, {"b", kFive, {3}}, {"c", kHourly, {1}}});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(store_.remaining("a", kTen), 8U);
  EXPECT_EQ(store_.remaining("b", kFive), 2U);
  EXPECT_EQ(store_.remaining("c", kHourly), 2U);
}

TEST_F(ShardedTableCheckAll, ChargesNoneWhenOneDenies) {
  for (std::size_t refusing = 0; refusing < kAlgorithms.size(); ++refusing) {
    std::vector<Check> checks;
    for (const Algorithm algorithm : kAlgorithms) {
      checks.push_back(
          {.key = to_string(algorithm), .quota = ten_in_ten_seconds(algorithm), .cost = Cost{2}});
    }
    ASSERT_TRUE(ask(checks).allowed());
    checks[refusing].cost = Cost{10};
    const std::vector<Decision> before = look(checks);
    const Decision decision = ask(checks);
    EXPECT_FALSE(decision.allowed());
    EXPECT_EQ(decision.decided_by(), refusing);
    EXPECT_EQ(look(checks), before);
    store_.clock.advance(minutes{1});
  }
}

TEST_F(ShardedTableCheckAll, ChargesNoneWhenOneNeverFitsOrIsBlocked) {
  const std::vector<Check> checks{{"a", kTen, {1}}, {"b", kFive, {6}}};
  EXPECT_EQ(ask(checks).outcome(), Outcome::NeverFits);
  EXPECT_EQ(store_.remaining("a", kTen), 10U);
  store_.store.block("b", minutes{1});
  EXPECT_EQ(ask({{"a", kTen, {1}}, {"b", kFive, {1}}}).outcome(), Outcome::Blocked);
  EXPECT_EQ(store_.remaining("a", kTen), 10U);
}

TEST_F(ShardedTableCheckAll, TheLongestWaitDecides) {
  store_.take("minute", kTen, 10);
  store_.take("hour", kHourly, 3);
  const Decision decision =
      ask({{"minute", kTen}, {"free", kFive}, {"hour", kHourly}, {"minute", kTen}});
  EXPECT_EQ(decision.outcome(), Outcome::Denied);
  EXPECT_EQ(decision.decided_by(), 2U);
  EXPECT_EQ(decision.limit(), 3U);
  EXPECT_EQ(decision.retry_after(), store_.check("hour", kHourly).retry_after());
}

TEST_F(ShardedTableCheckAll, NeverIsTheLongestWait) {
  store_.take("hour", kHourly, 3);
  const Decision decision = ask({{"hour", kHourly}, {"small", kFive, {6}}, {"other", kFive, {7}}});
  EXPECT_EQ(decision.outcome(), Outcome::NeverFits);
  EXPECT_EQ(decision.decided_by(), 1U);
  EXPECT_EQ(decision.retry_after(), std::nullopt);
}

TEST_F(ShardedTableCheckAll, ABlockDecidesWhenItLastsLongest) {
  store_.take("hour", kHourly, 3);
  store_.store.block("blocked", hours{48});
  EXPECT_EQ(ask({{"hour", kHourly}, {"blocked", kTen}}).outcome(), Outcome::Blocked);
  store_.store.block("blocked", seconds{1});
  EXPECT_EQ(ask({{"hour", kHourly}, {"blocked", kTen}}).outcome(), Outcome::Denied);
}

TEST_F(ShardedTableCheckAll, TheLeastRemainingDecidesWhenAllPass) {
  const Decision decision = ask({{"a", kTen, {1}}, {"b", kFive, {4}}, {"c", kHourly, {1}}});
  EXPECT_EQ(decision.decided_by(), 1U);
  EXPECT_EQ(decision.remaining(), 1U);
  EXPECT_EQ(decision.limit(), 5U);
}

TEST_F(ShardedTableCheckAll, TheFirstDecidesAmongEquals) {
  EXPECT_EQ(ask({{"a", kTen}, {"b", kTen}, {"c", kTen}}).decided_by(), 0U);
  store_.take("b", kTen, 9);
  store_.take("c", kTen, 9);
  EXPECT_EQ(ask({{"a", kTen}, {"b", kTen}, {"c", kTen}}).decided_by(), 1U);
}

TEST_F(ShardedTableCheckAll, ReportsEachLimitWhenAllPass) {
  ask({{"a", kTen, {2}}, {"b", kFive, {0}}, {"c", kHourly, {3}}});
  EXPECT_TRUE(each_[0].allowed());
  EXPECT_EQ(each_[0].remaining(), 8U);
  EXPECT_TRUE(each_[1].allowed());
  EXPECT_EQ(each_[1].remaining(), 5U);
  EXPECT_TRUE(each_[2].allowed());
  EXPECT_EQ(each_[2].remaining(), 0U);
}

TEST_F(ShardedTableCheckAll, ReportsEachLimitWhenAnotherDenies) {
  store_.take("a", kTen, 1);
  store_.take("c", kHourly, 3);
  ask({{"a", kTen, {2}}, {"b", kFive, {6}}, {"c", kHourly, {1}}});
  EXPECT_EQ(each_[0], store_.peek("a", kTen)) << "what it has, not what it would have had";
  EXPECT_EQ(each_[1].outcome(), Outcome::NeverFits);
  EXPECT_EQ(each_[1].remaining(), 5U);
  EXPECT_EQ(each_[2].outcome(), Outcome::Denied);
}

TEST_F(ShardedTableCheckAll, TheAnswerIsOneOfEachWithItsPosition) {
  Decision decision = ask({{"a", kTen, {2}}, {"b", kFive, {4}}});
  EXPECT_EQ(decision.decided_by(), 1U);
  decision.set_decided_by(0);
  EXPECT_EQ(decision, each_[1]);
}

TEST_F(ShardedTableCheckAll, AnEmptyListIsAllowed) {
  EXPECT_TRUE(ask({}).allowed());
  EXPECT_EQ(store_.store.stats().keys, 0U);
}

TEST_F(ShardedTableCheckAll, TheSameKeyTwiceIsChargedTwice) {
  EXPECT_TRUE(ask({{"k", kTen, {3}}, {"k", kTen, {4}}}).allowed());
  EXPECT_EQ(each_[0].remaining(), 7U);
  EXPECT_EQ(each_[1].remaining(), 3U);
  EXPECT_EQ(store_.remaining("k", kTen), 3U);
}

TEST_F(ShardedTableCheckAll, TheSameKeyTwiceIsDeniedWhenOnlyOneFits) {
  store_.take("k", kTen, 4);
  const Decision decision = ask({{"k", kTen, {3}}, {"k", kTen, {4}}});
  EXPECT_EQ(decision.outcome(), Outcome::Denied);
  EXPECT_EQ(decision.decided_by(), 1U);
  EXPECT_EQ(store_.remaining("k", kTen), 6U);
  store_.clock.advance(*decision.retry_after());
  EXPECT_TRUE(ask({{"k", kTen, {3}}, {"k", kTen, {4}}}).allowed());
}

TEST_F(ShardedTableCheckAll, TheSameKeyTwiceNeverFitsWhenTheSumDoesNot) {
  EXPECT_EQ(ask({{"k", kTen, {6}}, {"k", kTen, {5}}}).outcome(), Outcome::NeverFits);
  EXPECT_EQ(store_.remaining("k", kTen), 10U);
}

TEST_F(ShardedTableCheckAll, CostsThatTogetherLeave64BitsTakeNothing) {
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(ask({{"k", kTen, {1}}, {"k", kTen, {most}}}).outcome(), Outcome::NeverFits);
  EXPECT_EQ(ask({{"k", kTen, {most}}, {"k", kTen, {2}}}).outcome(), Outcome::NeverFits);
  EXPECT_EQ(ask({{"k", kTen, {most}}, {"k", kTen, {most}}, {"k", kTen, {3}}}).outcome(),
            Outcome::NeverFits);
  EXPECT_EQ(ask({{"k", kTen, {1}}, {"k", kTen, {most}}, {"k", kTen, {0}}}).outcome(),
            Outcome::NeverFits);
  EXPECT_EQ(store_.remaining("k", kTen), 10U);
}

TEST_F(ShardedTableCheckAll, APeekAfterAChargeOfTheSameKeySeesIt) {
  EXPECT_TRUE(ask({{"k", kTen, {9}}, {"k", kTen, {0}}}).allowed());
  EXPECT_FALSE(ask({{"k", kTen, {1}}, {"k", kTen, {0}}}).allowed())
      << "nothing would be left to look at";
  EXPECT_EQ(store_.remaining("k", kTen), 1U);
  EXPECT_TRUE(ask({{"k", kTen, {0}}, {"k", kTen, {1}}}).allowed());
  EXPECT_EQ(store_.remaining("k", kTen), 0U);
}

TEST_F(ShardedTableCheckAll, HandlesFarMoreChecksThanUsual) {
  for (const std::size_t count : {15U, 16U, 17U, 40U, 200U}) {
    const std::string prefix = std::to_string(count) + "/";
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(prefix + std::to_string(i));
    std::vector<Check> checks;
    for (const std::string& key : keys)
      checks.push_back({.key = key, .quota = kTen, .cost = Cost{2}});
    EXPECT_TRUE(ask(checks).allowed());
    store_.take(keys.back(), kTen, 7);
    const std::vector<Decision> before = look(checks);
    const Decision decision = ask(checks);
    EXPECT_FALSE(decision.allowed());
    EXPECT_EQ(decision.decided_by(), count - 1);
    EXPECT_EQ(look(checks), before);
    EXPECT_EQ(store_.store.check_all(checks, {}), decision) << "with or without `each`";
  }
}

TEST_F(ShardedTableCheckAll, SharesItsCountsWithSingleChecks) {
  store_.take("k", kTen, 4);
  ask({{"k", kTen, {5}}});
  EXPECT_EQ(store_.remaining("k", kTen), 1U);
}

class ShardedTableLimits : public ::testing::Test {
 protected:
  [[nodiscard]] static Limits make(std::vector<Limit> limits) {
    return Limits::make(std::move(limits)).value();
  }
  Decision check(std::string_view key, std::uint64_t cost = 1) {
    return store_.store.check(key, limits_, Cost{cost});
  }

  ManualStore store_;
  Limits limits_ = make({{"per-minute", per_minute(5)}, {"per-day", per_day(8).fixed_window()}});
};

TEST_F(ShardedTableLimits, AllPassOrNothingIsTaken) {
  EXPECT_TRUE(check("k", 5).allowed());
  EXPECT_EQ(check("k").outcome(), Outcome::Denied);
  store_.clock.advance(minutes{1});
  EXPECT_EQ(check("k", 4).outcome(), Outcome::Denied) << "the day has only 3 left";
  EXPECT_EQ(store_.store.check("k", make({{"per-minute", per_minute(5)}}), Cost{0}).remaining(),
            5U);
  EXPECT_TRUE(check("k", 3).allowed());
}

TEST_F(ShardedTableLimits, NamesTheLimitThatDecided) {
  EXPECT_EQ(limits_.name_of(check("k", 5)), "per-minute");
  EXPECT_EQ(limits_.name_of(check("k")), "per-minute");
  store_.clock.advance(minutes{1});
  EXPECT_EQ(limits_.name_of(check("k", 3)), "per-day");
  EXPECT_EQ(limits_.name_of(check("k")), "per-day");
}

TEST_F(ShardedTableLimits, ShareNothingWithEachOther) {
  const Limits twins = make({{"first", per_minute(5)}, {"second", per_minute(5)}});
  EXPECT_TRUE(store_.store.check("k", twins, Cost{5}).allowed());
  const Limits second = make({{"second", per_minute(5)}});
  EXPECT_EQ(store_.store.check("k", second, Cost{0}).remaining(), 0U);
  EXPECT_EQ(store_.store.check("k", make({{"third", per_minute(5)}}), Cost{0}).remaining(), 5U);
}

TEST_F(ShardedTableLimits, ShareNothingWithTheKeyItselfNorWithOtherKeys) {
  EXPECT_TRUE(check("k", 5).allowed());
  EXPECT_EQ(store_.remaining("k", per_minute(5)), 5U);
  EXPECT_TRUE(check("other", 5).allowed());
  store_.take("other", per_minute(5), 5);
  EXPECT_EQ(store_.store.check("k", limits_, Cost{0}).remaining(), 0U);
}

TEST_F(ShardedTableLimits, AreFoundByNameWhateverTheirOrder) {
  EXPECT_TRUE(check("k", 4).allowed());
  const Limits reversed =
      make({{"per-day", per_day(8).fixed_window()}, {"per-minute", per_minute(5)}});
  const Decision decision = store_.store.check("k", reversed, Cost{});
  EXPECT_EQ(decision.remaining(), 0U);
  EXPECT_EQ(reversed.name_of(decision), "per-minute");
}

TEST_F(ShardedTableLimits, APeekTakesNothing) {
  EXPECT_EQ(check("k", 0).remaining(), 5U);
  EXPECT_EQ(check("k", 0).remaining(), 5U);
  EXPECT_EQ(store_.store.stats().keys, 0U);
}

TEST_F(ShardedTableLimits, RefundReturnsToEach) {
  EXPECT_TRUE(check("k", 5).allowed());
  const Decision after = store_.store.refund("k", limits_, Cost{2});
  EXPECT_EQ(after.remaining(), 2U);
  EXPECT_EQ(limits_.name_of(after), "per-minute");
  EXPECT_EQ(after, check("k", 0));
}

TEST_F(ShardedTableLimits, ResetForgetsEach) {
  EXPECT_FALSE(store_.store.reset("k", limits_));
  EXPECT_TRUE(check("k", 5).allowed());
  EXPECT_FALSE(store_.store.reset("k")) << "the key itself was never checked";
  EXPECT_TRUE(store_.store.reset("k", limits_));
  EXPECT_EQ(store_.store.stats().keys, 0U);
  EXPECT_EQ(check("k", 0).remaining(), 5U);
}

TEST_F(ShardedTableLimits, HandleFarMoreLimitsThanUsual) {
  std::vector<Limit> many;
  for (int i = 0; i < 50; ++i)
    many.push_back({"limit " + std::to_string(i), quota_of(100 - i, minutes{1}, Algorithm::Gcra)});
  const Limits limits = make(std::move(many));
  const Decision decision = store_.store.check("k", limits, Cost{51});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(limits.name_of(decision), "limit 49");
  EXPECT_EQ(decision.remaining(), 0U);
  EXPECT_EQ(store_.store.stats().keys, 50U);
  EXPECT_EQ(store_.store.refund("k", limits, Cost{1}).remaining(), 1U);
}

TEST_F(ShardedTableLimits, MayChangeOneByOne) {
  EXPECT_TRUE(check("k", 5).allowed());
  const Limits raised =
      make({{"per-minute", per_minute(50)}, {"per-day", per_day(8).fixed_window()}});
  EXPECT_EQ(store_.store.check("k", raised, Cost{0}).remaining(), 3U);
  EXPECT_TRUE(store_.store.check("k", raised, Cost{3}).allowed());
}

}  // namespace
}  // namespace penstock::store
