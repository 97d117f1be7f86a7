#include "redis/hash_slot.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "servers/cluster.hpp"
#include "store_adapters/any_store.hpp"
#include "store_adapters/feed_reader.hpp"

#include <gtest/gtest.h>

#include <map>

// Cross-slot checks on a real cluster with a node that does not respond.
namespace penstock::store_adapters {
namespace {

using core::LimitKey;

// So long that nothing refills during a test.
const Quota kTwoUnits = per(2, Days{300});

core::NamedCheck unit_of(const std::string& subject) {
  return {.name = {subject, "limit"}, .quota = kTwoUnits, .cost = Cost{1}};
}

class CrossSlot : public ::testing::Test {
 protected:
  // One cluster for all tests: creating it takes seconds. No failover during a test.
  static void SetUpTestSuite() {
    cluster_ = std::make_unique<servers::Cluster>(
        servers::ClusterOptions{.node_timeout = std::chrono::seconds{60}});
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    options_ = long_timeout_options(cluster_->url(), prefix());
    options_.timeout = std::chrono::seconds{2};
    store_ = AnyStore::shared(options_);
    find_subjects();
    // Connects to every master.
    for (const std::string& subject : subjects_) ASSERT_TRUE(store_->check({peek(subject)}));
  }

  // One subject per master, in the order of their slots.
  void find_subjects() {
    std::map<std::uint16_t, std::string> by_slot;
    for (std::size_t node = 0; node < servers::Cluster::kMasters; ++node) {
      for (int i = 0;; ++i) {
        const std::string subject = "s" + std::to_string(i);
        const std::uint16_t slot = slot_of(subject);
        if (&cluster_->master_of_slot(slot) != &cluster_->node(node)) continue;
        by_slot.emplace(slot, subject);
        break;
      }
    }
    for (const auto& [slot, subject] : by_slot) subjects_.push_back(subject);
  }
  static std::string prefix() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static std::string key_of(const std::string& subject) {
    return redis_store::KeyLayout(prefix()).limit(subject, "limit");
  }
  static std::uint16_t slot_of(const std::string& subject) {
    return redis::hash_slot(key_of(subject));
  }
  static core::NamedCheck peek(const std::string& subject) {
    core::NamedCheck check = unit_of(subject);
    check.cost = Cost{0};
    return check;
  }
  void exhaust(const std::string& subject) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(store_->check({unit_of(subject)})->front().allowed());
  }
  Result<AnyStore::Decisions> check_all() {
    AnyStore::NamedChecks checks;
    for (const std::string& subject : subjects_) checks.push_back(unit_of(subject));
    return store_->check(checks);
  }

  static std::unique_ptr<servers::Cluster> cluster_;
  RedisOptions options_;
  std::unique_ptr<AnyStore> store_;
  std::vector<std::string> subjects_;
};

std::unique_ptr<servers::Cluster> CrossSlot::cluster_;

TEST_F(CrossSlot, ADenialStaysADenialWhicheverOtherNodeIsDown) {
  for (std::size_t denying = 0; denying < subjects_.size(); ++denying) {
    exhaust(subjects_[denying]);
    for (std::size_t down = 0; down < subjects_.size(); ++down) {
      if (down == denying) continue;
      servers::RedisServer& node = cluster_->master_of_slot(slot_of(subjects_[down]));
      node.kill();
      // The first calls may be in flight when the connection breaks.
      const auto is_down = [&] {
        const auto said = store_->check({peek(subjects_[down])});
        return !said && said.error().code == ErrorCode::Unavailable;
      };
      ASSERT_TRUE(store_->run_until(is_down));
      for (int i = 0; i < 5; ++i) {
        const Result<AnyStore::Decisions> said = check_all();
        ASSERT_TRUE(said) << denying << " denies, " << down << " is down: " << said.error().detail;
        EXPECT_FALSE((*said)[denying].allowed());
        EXPECT_TRUE((*said)[down].allowed()) << "nothing is known of it";
      }
      node.restart();
      ASSERT_TRUE(
          store_->run_until([&] { return store_->check({peek(subjects_[down])}).has_value(); }));
      cluster_->wait_until_ok();
    }
    ASSERT_TRUE(store_->reset({{subjects_[denying], "limit"}}));
  }
}

TEST_F(CrossSlot, AFailureRefundsTheSlotsBeforeIt) {
  servers::RedisServer& down = cluster_->master_of_slot(slot_of(subjects_[2]));
  down.kill();
  for (int i = 0; i < 5; ++i) {
    const Result<AnyStore::Decisions> said = check_all();
    ASSERT_FALSE(said);
  }
  for (const std::size_t charged : {0U, 1U}) {
    EXPECT_EQ(store_->check({peek(subjects_[charged])})->front().remaining(), 2U);
  }
  down.restart();
  cluster_->wait_until_ok();
}

TEST_F(CrossSlot, ARefundIsAnnounced) {
  exhaust(subjects_[2]);
  FeedReader reader(options_);
  ASSERT_TRUE(reader.run_until([&] { return reader.is_listening(); }));
  static_cast<void>(reader.take());
  const Result<AnyStore::Decisions> said = check_all();
  ASSERT_TRUE(said);
  EXPECT_FALSE((*said)[2].allowed());
  EXPECT_EQ((*said)[0].remaining(), 2U) << "as after the refund";
  EXPECT_TRUE(store_->run_until([&] {
    reader.poll();
    return reader.received() == 2;
  }));
  EXPECT_TRUE(reader.has_received({subjects_[0], "limit"}));
  EXPECT_TRUE(reader.has_received({subjects_[1], "limit"}));
}

TEST_F(CrossSlot, TheAnswerDoesNotWaitForARefundBeyondItsDeadline) {
  exhaust(subjects_[2]);
  servers::RedisServer& charged = cluster_->master_of_slot(slot_of(subjects_[0]));
  servers::RedisServer& denying = cluster_->master_of_slot(slot_of(subjects_[2]));
  // Delays the denial until the first node, which is charged by then, is paused.
  denying.pause();
  AnyStore::NamedChecks checks{unit_of(subjects_[0]), unit_of(subjects_[2])};
  std::optional<Result<AnyStore::Decisions>> said;
  const base::Deadline deadline = base::deadline_after(std::chrono::milliseconds{1500});
  base::Deadline answered_at{};
  store_->limits().check(checks, deadline, [&](auto answer) {
    answered_at = base::monotonic_now();
    said.emplace(std::move(answer));
  });
  ASSERT_TRUE(store_->run_until([&] {
    return charged.must({"EXISTS", key_of(subjects_[0])}).integer == 1;
  }));
  charged.pause();
  denying.resume();
  ASSERT_TRUE(store_->run_until([&] { return said.has_value(); }));
  charged.resume();
  ASSERT_TRUE(*said) << said->error().detail;
  EXPECT_FALSE((*said)->back().allowed());
  EXPECT_LT(answered_at - deadline, std::chrono::milliseconds{500});
  EXPECT_TRUE(store_->run_until([&] {
    const auto seen = store_->check({peek(subjects_[0])});
    return seen && seen->front().remaining() == 2;
  })) << "it was refunded all the same";
}

}  // namespace
}  // namespace penstock::store_adapters
