#include "servers/cluster.hpp"

#include "chaos/acl_rules.hpp"
#include "chaos/workers.hpp"
#include "redis/hash_slot.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::Cluster;
using servers::RedisServer;
using servers::SlotMigration;

// One cluster for all tests: creating it takes seconds. Each test uses its own keys and leaves
// every slot with a master.
class ClusterChaos : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = std::make_unique<Cluster>(); }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    limiter_ = std::make_unique<SharedLimiter>(open_limiter(options()));
    wait_until_works(*limiter_);
  }

  [[nodiscard]] static RedisOptions options() {
    RedisOptions made = long_timeout_options(cluster_->url());
    made.key_prefix = testing::UnitTest::GetInstance()->current_test_info()->name();
    return made;
  }
  // Slot of the key inside the braces.
  [[nodiscard]] static std::uint16_t slot_of(const std::string& key) {
    return redis::hash_slot(key);
  }
  // Another subject in the same slot.
  [[nodiscard]] static std::string neighbour_of(const std::string& key) {
    for (int i = 0;; ++i) {
      std::string other = "neighbour-" + std::to_string(i);
      if (slot_of(other) == slot_of(key)) return other;
    }
  }
  [[nodiscard]] static RedisServer& other_master(std::uint16_t slot) {
    const RedisServer& owner = cluster_->master_of_slot(slot);
    for (const std::uint16_t elsewhere : {std::uint16_t{0}, std::uint16_t{16'383}}) {
      RedisServer& other = cluster_->master_of_slot(elsewhere);
      if (&other != &owner) return other;
    }
    throw std::logic_error("one master has both ends");
  }

  static std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<SharedLimiter> limiter_;
};

std::unique_ptr<Cluster> ClusterChaos::cluster_;

// Performs a migration step by step, with load between the steps.
void migrate(Workers& workers, SlotMigration& migration) {
  constexpr std::size_t kWhile = 200;
  workers.wait_for_decisions(kWhile);
  migration.begin();
  workers.wait_for(50ms);
  while (migration.move_keys(1) > 0) workers.wait_for(50ms);
  workers.wait_for(50ms);
  migration.finish();
  workers.wait_for_decisions(kWhile);
}

TEST_F(ClusterChaos, AMigrationUnderLoadCausesNoErrors) {
  const std::string key = "bucket";
  const std::vector<Question> questions = default_questions();
  Workers workers(*limiter_, questions);
  SlotMigration migration(*cluster_, slot_of(key), other_master(slot_of(key)));
  migrate(workers, migration);
  const Tally tally = workers.stop();
  report("slot migrated",
         tally.summary() + "; " + std::to_string(limiter_->stats().retries) + " sent again");
  EXPECT_EQ(tally.errors(), 0U);
  EXPECT_GT(limiter_->stats().retries, 0U);
  expect_consistent(tally, questions, *limiter_, kLongTimeout);
}

TEST_F(ClusterChaos, TheDocumentedAclRulesAreEnoughForAMigration) {
  for (std::size_t i = 0; i < Cluster::kNodes; ++i) {
    std::string rules(kAclRules);
    cluster_->node(i).must(set_limiter_user(rules.append(" ").append(kAclRulesOfClusters)));
  }
  RedisOptions restricted = long_timeout_options(cluster_->url());
  restricted.url.insert(std::string_view("redis-cluster://").size(), "limiter:sesame@");
  SharedLimiter limiter = open_limiter(restricted);
  wait_until_works(limiter);
  Workers workers(limiter, default_questions());
  SlotMigration migration(*cluster_, slot_of("window"), other_master(slot_of("window")));
  migrate(workers, migration);
  const Tally tally = workers.stop();
  report("slot migrated with few rights", tally.summary());
  EXPECT_EQ(tally.errors(), 0U);
  for (std::size_t i = 0; i < Cluster::kNodes; ++i) {
    const servers::Reply log = cluster_->node(i).must({"ACL", "LOG"});
    EXPECT_TRUE(log.elements.empty()) << log;
  }
}

// While one of two keys has moved, the protocol cannot serve both in one command.
TEST_F(ClusterChaos, KeysOfAMultiLimitCheckWaitForTheSlotToArrive) {
  const std::string one = "pair";
  const std::string two = neighbour_of(one);
  const std::vector<Question> questions{{one, kBucket}};
  Workers workers(*limiter_, questions, [&](SharedLimiter& limiter, const Question& question) {
    return limiter.check_all({{.key = question.key, .quota = question.quota, .cost = {}},
                              {.key = two, .quota = kBucket, .cost = {}}});
  });
  SlotMigration migration(*cluster_, slot_of(one), other_master(slot_of(one)));
  migrate(workers, migration);
  const Tally tally = workers.stop();
  report("slot of a multi-limit check migrated",
         tally.summary() + "; " + std::to_string(limiter_->stats().retries) + " sent again");
  expect_consistent(tally, {{one, kBucket}}, *limiter_, kLongTimeout);
  expect_consistent(tally, {{two, kBucket}}, *limiter_, kLongTimeout);
  EXPECT_EQ(tally.errors(), tally.errors(ErrorCode::Unavailable));
}

// Each key can be served at any time, and sharing a batch must not prevent that.
TEST_F(ClusterChaos, KeysOfOneSlotThatOnlyShareABatchDoNotWaitForEachOther) {
  const std::string one = "traveller";
  const std::vector<Question> questions{{one, kBucket}, {neighbour_of(one), kBucket}};
  Workers workers(
      *limiter_, questions, [&](SharedLimiter& limiter, const Question&) -> Result<Decision> {
        std::array<Result<Decision>, 2> said{Decision{}, Decision{}};
        const std::array checks{Check{.key = questions[0].key, .quota = kBucket, .cost = {}},
                                Check{.key = questions[1].key, .quota = kBucket, .cost = {}}};
        limiter.check_each(checks, said);
        return said[0] ? said[1] : said[0];
      });
  SlotMigration migration(*cluster_, slot_of(one), other_master(slot_of(one)));
  workers.wait_for_decisions(200);
  migration.begin();
  workers.wait_for_decisions(20);
  ASSERT_EQ(migration.move_keys(1), 1U);
  workers.wait_for(700ms);  // longer than any timeout
  migration.move_all_keys();
  migration.finish();
  workers.wait_for_decisions(200);
  const Tally tally = workers.stop();
  report("slot of two keys in one batch migrated", tally.summary());
  EXPECT_EQ(tally.errors(), 0U);
}

TEST_F(ClusterChaos, SeveralLimitsOfOneSubjectSurviveAMigration) {
  const Limits limits =
      Limits::make({{.name = "bucket", .quota = kBucket}, {.name = "window", .quota = kWindow}})
          .value();
  const std::vector<Question> questions{{"subject", kBucket}};
  Workers workers(*limiter_, questions, [&](SharedLimiter& limiter, const Question& question) {
    return limiter.check(question.key, limits);
  });
  SlotMigration migration(*cluster_, slot_of("subject"), other_master(slot_of("subject")));
  migrate(workers, migration);
  const Tally tally = workers.stop();
  report("slot of a subject with two limits migrated", tally.summary());
  expect_prompt(tally, kLongTimeout);
  EXPECT_EQ(tally.errors(), tally.errors(ErrorCode::Unavailable));
  const Result<Decision> seen = limiter_->peek("subject", limits);
  ASSERT_TRUE(seen) << text_of(seen);
  EXPECT_EQ(seen->limit() - seen->remaining(), tally.allowed(0));
}

// The default timeout is too short to wait for a slot: multi-limit checks of one subject fail
// during the migration, without a charge.
TEST_F(ClusterChaos, ARequestThatCannotWaitForASlotFailsAtOnceAndIsNotCharged) {
  const Limits limits =
      Limits::make({{.name = "bucket", .quota = kBucket}, {.name = "window", .quota = kWindow}})
          .value();
  SharedLimiter limiter =
      open_limiter({.url = options().url, .timeout = 20ms, .key_prefix = options().key_prefix});
  wait_until_works(limiter);
  Workers workers(limiter, {{"subject", kBucket}},
                  [&](SharedLimiter& asked, const Question& question) {
                    return asked.check(question.key, limits);
                  });
  SlotMigration migration(*cluster_, slot_of("subject"), other_master(slot_of("subject")));
  migrate(workers, migration);
  const Tally tally = workers.stop();
  report("the same with a timeout of 20 ms", tally.summary());
  expect_prompt(tally, 20ms);
  EXPECT_GT(tally.errors(ErrorCode::Unavailable), 0U);
  const Result<Decision> seen = limiter_->peek("subject", limits);
  ASSERT_TRUE(seen) << text_of(seen);
  const std::size_t used = seen->limit() - seen->remaining();
  EXPECT_GE(used, tally.allowed(0));
  EXPECT_LE(used, tally.allowed(0) + tally.unknown(0));
}

TEST_F(ClusterChaos, AManualFailoverLosesNothing) {
  const std::vector<Question> questions = default_questions();
  Workers workers(*limiter_, questions);
  workers.wait_for_decisions(300);
  RedisServer& replica = *cluster_->replicas_of(cluster_->master_of_slot(slot_of("bucket"))).at(0);
  const Time start = base::monotonic_now();
  cluster_->fail_over_to(replica);
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  report("CLUSTER FAILOVER", "until all know " + text_of(recovered - start));
  report_recovery("CLUSTER FAILOVER", tally, recovered);
  expect_consistent(tally, questions, *limiter_, kLongTimeout);
}

TEST_F(ClusterChaos, AHangingMasterDoesNotAffectOthersAndTheirChargesAreRefunded) {
  // Checked in slot order: the charge in the first slot is refunded.
  std::string first = "first";
  std::string second = "second";
  const auto owner = [](const std::string& key) { return &cluster_->master_of_slot(slot_of(key)); };
  for (int i = 0; owner(first) == owner(second); ++i) second = "second-" + std::to_string(i);
  if (slot_of(first) > slot_of(second)) std::swap(first, second);
  const RedisOptions usual{.url = options().url, .key_prefix = options().key_prefix};
  SharedLimiter limiter = open_limiter(usual);
  wait_until_works(limiter);
  const auto ask = [&] {
    return limiter.check_all({{.key = first, .quota = kBucket, .cost = {}},
                              {.key = second, .quota = kBucket, .cost = {}}});
  };
  servers::wait_until("both masters to respond", [&] { return ask().has_value(); });
  const std::size_t before = stored_usage(*limiter_, {first, kBucket});
  RedisServer& hangs = *owner(second);
  hangs.pause();
  Span slowest{};
  for (int i = 0; i < 20; ++i) {
    const Time asked = base::monotonic_now();
    const Result<Decision> said = ask();
    slowest = std::max(slowest, base::monotonic_now() - asked);
    EXPECT_FALSE(said);
  }
  EXPECT_TRUE(limiter.check(first, kBucket, Cost{0}));
  hangs.resume();
  report("check across two masters, one hangs", "slowest " + text_of(slowest));
  EXPECT_LT(slowest, usual.timeout + kMargin);
  EXPECT_EQ(stored_usage(*limiter_, {first, kBucket}), before);
  cluster_->wait_until_ok();
}

TEST_F(ClusterChaos, AMasterThatDiesIsReplaced) {
  const std::vector<Question> questions = default_questions();
  Workers workers(*limiter_, questions);
  workers.wait_for_decisions(300);
  const std::uint16_t slot = slot_of("bucket");
  const Time start = base::monotonic_now();
  RedisServer& killed = cluster_->kill_master_of_slot(slot);
  cluster_->wait_for_other_master(slot, killed);
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(300);
  const Tally tally = workers.stop();
  report("master of a cluster killed", "until another is there " + text_of(recovered - start));
  report_recovery("master of a cluster killed", tally, recovered);
  expect_consistent(tally, questions, *limiter_, kLongTimeout, {start - 1s, start});
  killed.restart();
  cluster_->wait_until_ok();
}

}  // namespace
}  // namespace penstock::chaos
