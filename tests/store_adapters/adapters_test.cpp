#include "reference/quotas.hpp"
#include "servers/cluster.hpp"
#include "servers/keys.hpp"
#include "servers/wait.hpp"
#include "store_adapters/any_store.hpp"

#include <gtest/gtest.h>

#include <random>

// The Store interface, over each implementation.
namespace penstock::store_adapters {
namespace {

using core::LimitKey;
using core::NamedCheck;
using Kind = store::CounterKind;
using NamedChecks = AnyStore::NamedChecks;

// So long that nothing refills during a test.
const Quota kThree = per(3, Days{300});
const Quota kFive = per(5, Days{300}).fixed_window();

enum class Where : std::uint8_t { Embedded, Redis, Cluster };

std::string name_of(const ::testing::TestParamInfo<Where>& parameter) {
  switch (parameter.param) {
    case Where::Embedded: return "embedded";
    case Where::Redis: return "redis";
    case Where::Cluster: return "cluster";
  }
  return "unknown";
}

// Stops the servers before main() returns, while their dependencies still exist.
class Servers final : public ::testing::Environment {
 public:
  void TearDown() override {
    redis_.reset();
    cluster_.reset();
  }
  servers::RedisServer& redis() {
    if (!redis_) redis_ = std::make_unique<servers::RedisServer>();
    return *redis_;
  }
  servers::Cluster& cluster() {
    if (!cluster_) {
      cluster_ = std::make_unique<servers::Cluster>(
          servers::ClusterOptions{.node_timeout = std::chrono::seconds{20}});
    }
    return *cluster_;
  }

 private:
  std::unique_ptr<servers::RedisServer> redis_;
  std::unique_ptr<servers::Cluster> cluster_;
};

auto* const kServers = static_cast<Servers*>(
    ::testing::AddGlobalTestEnvironment(std::make_unique<Servers>().release()));

std::unique_ptr<AnyStore> open(Where where) {
  static int runs = 0;
  const std::string prefix = "adapters" + std::to_string(++runs);
  switch (where) {
    case Where::Embedded: break;
    case Where::Redis:
      return AnyStore::shared(long_timeout_options(kServers->redis().url(), prefix));
    case Where::Cluster:
      return AnyStore::shared(long_timeout_options(kServers->cluster().url(), prefix));
  }
  return AnyStore::embedded();
}

NamedCheck ask(std::string subject, std::string limit, const Quota& quota, std::uint64_t cost = 1) {
  return {.name = {std::move(subject), std::move(limit)}, .quota = quota, .cost = Cost{cost}};
}

template <class T>
std::string text_of(const Result<T>& said) {
  if (!said) return said.error().detail;
  if constexpr (std::is_same_v<T, AnyStore::Decisions>) {
    std::string text;
    for (const Decision& decision : *said) {
      text += std::string(to_string(decision.outcome())) + " " +
              std::to_string(decision.remaining()) + "/" + std::to_string(decision.limit()) +
              (decision.reset_after() > Duration{0} ? " used, " : " unused, ");
    }
    return text;
  } else {
    return std::to_string(*said);
  }
}

class StoreAdapter : public ::testing::TestWithParam<Where> {
 protected:
  void TearDown() override {
    store_.reset();
    if (GetParam() != Where::Redis) return;
    EXPECT_EQ(servers::keys_that_never_expire(kServers->redis()), std::vector<std::string>{});
  }
  std::string check(const NamedChecks& checks) { return text_of(store_->check(checks)); }

  std::unique_ptr<AnyStore> store_ = open(GetParam());
};

TEST_P(StoreAdapter, SeparatesSubjectsAndLimits) {
  EXPECT_EQ(check({ask("alice", "api/a", kThree)}), "allowed 2/3 used, ");
  EXPECT_EQ(check({ask("alice", "api/b", kThree)}), "allowed 2/3 used, ");
  EXPECT_EQ(check({ask("alice", "", kThree)}), "allowed 2/3 used, ");
  EXPECT_EQ(check({ask("bob", "api/a", kThree)}), "allowed 2/3 used, ");
  EXPECT_EQ(check({ask("", "api/a", kThree)}), "allowed 2/3 used, ");
  EXPECT_EQ(check({ask("alice", "api/a", kThree)}), "allowed 1/3 used, ");
}

TEST_P(StoreAdapter, ChargesAllOrNothing) {
  EXPECT_EQ(check({ask("alice", "a", kThree, 2), ask("bob", "b", kFive, 2)}),
            "allowed 1/3 used, allowed 3/5 used, ");
  EXPECT_EQ(check({ask("alice", "a", kThree, 2), ask("bob", "b", kFive, 2)}),
            "denied 1/3 used, allowed 3/5 used, ");
  EXPECT_EQ(check({ask("bob", "b", kFive, 3)}), "allowed 0/5 used, ");
  EXPECT_EQ(check({ask("alice", "a", kThree, 1), ask("bob", "b", kFive, 1)}),
            "allowed 1/3 used, denied 0/5 used, ");
  EXPECT_EQ(check({ask("alice", "a", kThree, 4)}), "never_fits 1/3 used, ");
}

TEST_P(StoreAdapter, RefundsInEverySlot) {
  EXPECT_EQ(check({ask("alice", "a", kThree, 3), ask("bob", "b", kFive, 4), ask("x", "", kThree)}),
            "allowed 0/3 used, allowed 1/5 used, allowed 2/3 used, ");
  EXPECT_EQ(text_of(store_->refund(
                {ask("alice", "a", kThree, 2), ask("bob", "b", kFive, 1), ask("x", "", kThree)})),
            "allowed 2/3 used, allowed 2/5 used, allowed 3/3 unused, ");
}

TEST_P(StoreAdapter, ResetsUsage) {
  EXPECT_EQ(check({ask("alice", "a", kThree), ask("bob", "b", kFive)}),
            "allowed 2/3 used, allowed 4/5 used, ");
  EXPECT_EQ(text_of(store_->reset({{"alice", "a"}, {"bob", "b"}, {"carol", ""}})), "1");
  EXPECT_EQ(text_of(store_->reset({{"alice", "a"}, {"bob", "b"}, {"carol", ""}})), "0");
  EXPECT_EQ(check({ask("alice", "a", kThree, 3)}), "allowed 0/3 used, ");
}

TEST_P(StoreAdapter, BlocksOnlyTheNamedLimit) {
  const AnyStore::Names names{{"alice", "a"}, {"bob", "b"}};
  EXPECT_EQ(text_of(store_->block(names, std::chrono::hours{1})), "0");
  EXPECT_EQ(text_of(store_->block(names, std::chrono::hours{1})), "1");
  EXPECT_EQ(check({ask("alice", "a", kThree)}), "blocked 0/3 used, ");
  EXPECT_EQ(check({ask("alice", "b", kThree)}), "allowed 2/3 used, ");
  EXPECT_EQ(check({ask("alice", "", kThree)}), "allowed 2/3 used, ");
  EXPECT_EQ(check({ask("alice", "b", kThree), ask("bob", "b", kThree)}),
            "allowed 2/3 used, blocked 0/3 used, ");
  EXPECT_EQ(text_of(store_->block(names, Duration{0})), "1");
  EXPECT_EQ(text_of(store_->block(names, Duration{0})), "0");
  EXPECT_EQ(check({ask("alice", "a", kThree)}), "allowed 2/3 used, ");
  // A block of a subject without a limit does not apply to its limits.
  EXPECT_EQ(text_of(store_->block({{"alice", ""}}, std::chrono::hours{1})), "0");
  EXPECT_EQ(check({ask("alice", "", kThree)}), "blocked 0/3 used, ");
  EXPECT_EQ(check({ask("alice", "a", kThree)}), "allowed 1/3 used, ");
}

TEST_P(StoreAdapter, StoresCounters) {
  EXPECT_EQ(text_of(store_->add(Kind::Integer, "n", 5)), "5");
  EXPECT_EQ(text_of(store_->add(Kind::Integer, "n", -7)), "-2");
  EXPECT_EQ(text_of(store_->add(Kind::Decimal, "n", 1, std::chrono::hours{1})), "1");
  EXPECT_EQ(text_of(store_->get(Kind::Integer, "n")), "-2");
  EXPECT_EQ(text_of(store_->get(Kind::Decimal, "n")), "1");
  EXPECT_EQ(text_of(store_->remove("n")), "1");
  EXPECT_EQ(text_of(store_->remove("n")), "0");
  EXPECT_EQ(text_of(store_->get(Kind::Integer, "n")), "0");
  const auto rejected = store_->add(Kind::Integer, "n", 1, Duration{0});
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, ErrorCode::InvalidInput);
}

TEST_P(StoreAdapter, AllowsANewCallFromWithinAnAnswer) {
  int answers = 0;
  const base::Deadline deadline = base::deadline_after(std::chrono::seconds{30});
  store_->limits().check({ask("alice", "a", kThree)}, deadline, [&](auto first) {
    ASSERT_TRUE(first);
    ++answers;
    store_->limits().check({ask("alice", "a", kThree)}, deadline, [&](auto second) {
      ASSERT_TRUE(second);
      EXPECT_EQ(second->front().remaining(), 1U);
      ++answers;
    });
  });
  EXPECT_TRUE(store_->run_until([&] { return answers == 2; }));
}

TEST_P(StoreAdapter, AnswersLikeTheEmbeddedStore) {
  const auto seed = static_cast<std::uint32_t>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t end) { return random() % end; };
  const auto other = AnyStore::embedded();
  const auto quota_of = [&](std::size_t limit) { return limit == 0 ? kThree : kFive; };
  for (int step = 0; step < 400 && !HasFailure(); ++step) {
    NamedChecks checks;
    AnyStore::Names names;
    for (std::size_t i = 0; i < 6; ++i) {
      if (below(3) > 0) continue;
      const std::string subject = std::string(1, static_cast<char>('a' + i / 2));
      const std::string limit = i % 2 == 0 ? "" : "limit";
      checks.push_back(ask(subject, limit, quota_of(i % 2), below(4)));
      names.push_back({subject, limit});
    }
    if (checks.empty()) continue;
    const Duration lasting = below(2) == 0 ? Duration{0} : Duration{std::chrono::hours{1}};
    const auto how = below(10);
    const auto perform = [&](AnyStore& store) {
      switch (how) {
        case 0: return text_of(store.reset(names));
        case 1: return text_of(store.block(names, lasting));
        case 2:
        case 3: return text_of(store.refund(checks));
        default: return text_of(store.check(checks));
      }
    };
    EXPECT_EQ(perform(*store_), perform(*other)) << "step " << step << ", call " << how;
  }
}

// "7 - no end", "- 0.5 2 h", "nothing"
std::string text_of(const Result<store::CounterValues>& counter) {
  if (!counter) return counter.error().detail;
  if (!counter->integer && !counter->decimal) return "nothing";
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : std::string("-");
  };
  std::string text = number(counter->integer) + " " + number(counter->decimal) + " ";
  if (!counter->lifetime) return text + "no end";
  return text + std::to_string(std::chrono::ceil<std::chrono::hours>(*counter->lifetime).count()) +
         " h";
}

TEST_P(StoreAdapter, CountersAreReadAndGetALifetime) {
  using ExpireCondition = store::ExpireCondition;
  using std::chrono::hours;
  const auto look = [&] { return text_of(store_->read_counter("visits")); };
  EXPECT_EQ(look(), "nothing");
  EXPECT_FALSE(store_->expire("visits", hours{1}, ExpireCondition::Always).value());
  ASSERT_TRUE(store_->add(Kind::Integer, "visits", 7));
  EXPECT_EQ(look(), "7 - no end");
  ASSERT_TRUE(store_->add(Kind::Decimal, "visits", -5, hours{3}));
  EXPECT_EQ(look(), "7 -5 no end");
  EXPECT_TRUE(store_->expire("visits", hours{2}, ExpireCondition::IfPersistent).value());
  EXPECT_EQ(look(), "7 -5 3 h");
  EXPECT_FALSE(store_->expire("visits", hours{9}, ExpireCondition::IfPersistent).value());
  EXPECT_TRUE(store_->expire("visits", hours{1}, ExpireCondition::Always).value());
  EXPECT_EQ(look(), "7 -5 1 h");
  ASSERT_TRUE(store_->add(Kind::Integer, "visits", 1));
  EXPECT_EQ(look(), "8 -5 1 h");
  EXPECT_TRUE(store_->remove("visits").value());
  EXPECT_EQ(look(), "nothing");
}

TEST_P(StoreAdapter, RecordsEveryStepOfAReservationOnce) {
  using namespace store::reservation;
  using store::ReservationState;
  const std::vector<store::HeldUnits> held{
      {.name = {"alice", "api/a"}, .quota = kThree, .weight = 2, .counts_for = Days{1}},
      {.name = {"bob {}", ""}, .quota = kFive, .weight = 1, .counts_for = Duration{5}}};
  const auto step = [&](auto what) { return store_->step({.id = "one 1", .what = what}).value(); };
  EXPECT_TRUE(step(Begin{"me"}).done);
  EXPECT_EQ(step(Begin{"you"}).before->state, ReservationState::Pending);
  EXPECT_FALSE(step(Confirm{"you", 7, std::chrono::hours{1}, held}).done);
  EXPECT_FALSE(step(Drop{"you"}).done);
  EXPECT_FALSE(step(Commit{1}).done);
  EXPECT_TRUE(step(Confirm{"me", 7, std::chrono::hours{1}, held}).done);
  EXPECT_FALSE(step(Expire{}).done);  // not expired yet
  const store::ReservationAnswer committed = step(Commit{9});
  EXPECT_TRUE(committed.done);
  EXPECT_EQ(committed.before->state, ReservationState::Open);
  EXPECT_EQ(committed.before->estimate, 7U);
  EXPECT_EQ(committed.before->held, held);
  EXPECT_GT(committed.before->left, std::chrono::minutes{59});
  EXPECT_TRUE(step(Note{2}).done);
  const store::ReservationAnswer again = step(Commit{9});
  EXPECT_FALSE(again.done);
  EXPECT_EQ(again.before->state, ReservationState::Committed);
  EXPECT_EQ(again.before->actual, 9U);
  EXPECT_EQ(again.before->uncharged, 2U);
  EXPECT_FALSE(step(Cancel{}).done);
  EXPECT_EQ(again.before->claimant, "me");
  EXPECT_FALSE(store_->step({.id = "two", .what = Cancel{}})->before.has_value());
  EXPECT_TRUE(store_->step({.id = "two", .what = Begin{"me"}})->done);
  EXPECT_TRUE(store_->step({.id = "two", .what = Drop{"me"}})->done);
  EXPECT_FALSE(store_->step({.id = "two", .what = Cancel{}})->before.has_value());
}

TEST_P(StoreAdapter, ListsExpiredReservations) {
  using namespace store::reservation;
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_TRUE(store_->step({.id = id, .what = Begin{"me"}})->done);
    const Duration lasts = id == "c" ? Duration{std::chrono::hours{1}} : Duration{1};
    ASSERT_TRUE(store_->step({.id = id, .what = Confirm{"me", 5, lasts, {}}})->done);
  }
  servers::wait_until("both to be over", [&] { return store_->due(9).value().size() == 2; });
  EXPECT_EQ(store_->due(1).value(), std::vector<std::string>{"a"});
  EXPECT_EQ(store_->due(9).value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(store_->step({.id = "a", .what = Expire{}})->done);
  EXPECT_FALSE(store_->step({.id = "a", .what = Expire{}})->done);
  EXPECT_TRUE(store_->step({.id = "b", .what = Cancel{}})->done);
  EXPECT_EQ(store_->due(9).value(), std::vector<std::string>{});
  EXPECT_FALSE(
      store_->step({.id = "a", .what = Commit{3}})->done);  // its units are not refunded yet
  EXPECT_TRUE(store_->step({.id = "a", .what = Refunded{}})->done);
  EXPECT_TRUE(store_->step({.id = "a", .what = Commit{3}})->done);
}

TEST_P(StoreAdapter, RepeatsTheAnswerToASettler) {
  using namespace store::reservation;
  const std::vector<store::HeldUnits> held{
      {.name = {"alice", "api/a"}, .quota = kThree, .weight = 2, .counts_for = Days{1}}};
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_TRUE(store_->step({.id = id, .what = Begin{"me"}})->done);
    const Duration lasts = id == "c" ? Duration{1} : Duration{std::chrono::hours{1}};
    ASSERT_TRUE(store_->step({.id = id, .what = Confirm{"me", 5, lasts, held}})->done);
  }
  servers::wait_until("one to be over", [&] { return store_->due(9).value().size() == 1; });
  const auto settle = [&](const std::string& id, const std::string& settler) {
    if (id == "a") return store_->step({.id = id, .what = Commit{9, settler}}).value();
    if (id == "b") return store_->step({.id = id, .what = Cancel{settler}}).value();
    return store_->step({.id = id, .what = Expire{settler}}).value();
  };
  for (const std::string id : {"a", "b", "c"}) {
    for (int i = 0; i < 3; ++i) {
      const store::ReservationAnswer said = settle(id, "mine");
      EXPECT_TRUE(said.done) << id;
      EXPECT_EQ(said.before->state, store::ReservationState::Open) << id;
      EXPECT_EQ(said.before->held, held) << id;
    }
    EXPECT_FALSE(settle(id, "other").done) << id;
  }
}

TEST_P(StoreAdapter, GrantsPermitsUpToTheLimit) {
  using std::chrono::hours;
  EXPECT_TRUE(store_->acquire({"up loads", "a"}, 2, hours{1})->held);
  EXPECT_TRUE(store_->acquire({"up loads", "b"}, 2, hours{2})->held);
  EXPECT_EQ(store_->acquire({"up loads", "a"}, 2, hours{1})->taken, 2U);
  const core::PermitResult denied = store_->acquire({"up loads", "c"}, 2, hours{1}).value();
  EXPECT_FALSE(denied.held);
  EXPECT_EQ(denied.taken, 2U);
  EXPECT_LE(denied.lasts, hours{1});
  EXPECT_GT(denied.lasts, std::chrono::minutes{59});
  EXPECT_TRUE(store_->acquire({"others", "c"}, 2, hours{1})->held);
  EXPECT_TRUE(store_->release({"up loads", "b"}).value());
  EXPECT_FALSE(store_->release({"up loads", "b"}).value());
  EXPECT_TRUE(store_->acquire({"up loads", "c"}, 2, Duration{1})->held);
  servers::wait_until("that permit to be over", [&] {
    return store_->acquire({"up loads", "d"}, 2, hours{1})->held;
  });
  EXPECT_FALSE(store_->renew({"up loads", "c"}, hours{1})->held);
  EXPECT_TRUE(store_->renew({"up loads", "d"}, hours{3})->held);
}

TEST_P(StoreAdapter, ReportsThatItIsServing) {
  EXPECT_EQ(check({ask("alice", "a", kThree)}), "allowed 2/3 used, ");
  EXPECT_TRUE(store_->health().serving);
  EXPECT_EQ(store_->health().reason, "");
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreAdapter,
                         ::testing::Values(Where::Embedded, Where::Redis, Where::Cluster), name_of);

}  // namespace
}  // namespace penstock::store_adapters
