#include "redis_store/check_queue.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;

constexpr base::Deadline kAsked{std::chrono::hours{1}};
constexpr base::Deadline kLater = kAsked + milliseconds{10};

class Answers : public Sink {
 public:
  void on_decision(std::size_t question, const Result<Decision>& decision) override {
    errors[question] = decision ? "" : decision.error().detail;
  }
  std::map<std::size_t, std::string> errors;
};

struct CheckQueueTest : ::testing::Test {
  void ask(const std::string& key, const Quota& quota, std::uint64_t cost = 1,
           base::Deadline deadline = kLater) {
    queue.add(key, {.quota = quota,
                    .cost = Cost{cost},
                    .deadline = deadline,
                    .sink = &answers,
                    .question = asked++});
  }
  std::vector<CheckBatch> take(CheckQueue::Spread spread = CheckQueue::Spread::OneServer) {
    return queue.take(spread, kAsked);
  }

  CheckQueue queue;
  Answers answers;
  std::size_t asked = 0;
};

TEST_F(CheckQueueTest, PutsKeysOfOneQuotaIntoOneCall) {
  for (int i = 0; i < 10; ++i) ask("k" + std::to_string(i), per_minute(5));
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].way, CheckBatch::Way::Buckets);
  EXPECT_EQ(batches[0].keys.size(), 10U);
  EXPECT_FALSE(queue.has_ready());
}

TEST_F(CheckQueueTest, MakesOneItemOfOneKey) {
  for (int i = 0; i < 10; ++i) ask("k", per_minute(5));
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].keys.size(), 1U);
  ASSERT_EQ(batches[0].keys[0]->asked.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(batches[0].keys[0]->asked[i].question, i);
}

TEST_F(CheckQueueTest, HasOneCallUnderWayPerKey) {
  ask("k", per_minute(5));
  std::vector<CheckBatch> batches = take();
  ask("k", per_minute(5));
  ask("k", per_minute(5));
  EXPECT_FALSE(queue.has_ready());
  EXPECT_TRUE(take().empty());
  queue.finish(*batches[0].keys[0]);
  EXPECT_TRUE(queue.has_ready());
  batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].keys[0]->asked.size(), 2U);
  queue.finish(*batches[0].keys[0]);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(CheckQueueTest, KeepsQuotasAndCostsApart) {
  ask("a", per_minute(5));
  ask("b", per_minute(6));
  ask("c", per_minute(5), 2);
  ask("d", per_minute(5));
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].keys.size(), 2U);
}

TEST_F(CheckQueueTest, LeavesToTheGeneralScriptWhatTheQuickOneCannot) {
  ask("window", per_minute(5).fixed_window());
  ask("look", per_minute(5), 0);
  ask("never", per_minute(5), 6);
  ask("mixed", per_minute(5));
  ask("mixed", per_minute(5), 2);
  std::size_t keys = 0;
  for (const CheckBatch& batch : take()) {
    EXPECT_EQ(batch.way, CheckBatch::Way::Decide);
    keys += batch.keys.size();
  }
  EXPECT_EQ(keys, 4U);
}

TEST_F(CheckQueueTest, KeepsSlotsOfAClusterApart) {
  ask("{a}", per_minute(5));
  ask("{b}", per_minute(5));
  ask("{a}x", per_minute(5));
  const std::vector<CheckBatch> batches = take(CheckQueue::Spread::BySlot);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].keys.size(), 2U);
}

TEST_F(CheckQueueTest, SplitsWhatWouldKeepTheServerTooLong) {
  for (std::size_t i = 0; i < CheckQueue::kMostKeys + 1; ++i) {
    ask("k" + std::to_string(i), per_minute(5));
  }
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].keys.size(), CheckQueue::kMostKeys);
}

TEST_F(CheckQueueTest, AnswersThoseWhoseTimeIsOverWithoutAsking) {
  ask("k", per_minute(5), 1, kAsked);
  ask("k", per_minute(5), 1, kLater);
  ask("other", per_minute(5), 1, kAsked - milliseconds{1});
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].keys[0]->asked.size(), 1U);
  EXPECT_EQ(answers.errors.size(), 2U);
  EXPECT_EQ(queue.size(), 1U);
}

TEST_F(CheckQueueTest, HasACallEndWithItsEarliestDeadline) {
  ask("a", per_minute(5), 1, kLater);
  ask("b", per_minute(5), 1, kLater - std::chrono::microseconds{5});
  ask("c", per_minute(5), 1, kLater + milliseconds{100});
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 2U);  // nobody is cut short by a tenth of a second
  EXPECT_EQ(batches[0].deadline, kLater - std::chrono::microseconds{5});
}

TEST_F(CheckQueueTest, AnswersEverybodyWhenItIsOver) {
  ask("a", per_minute(5));
  static_cast<void>(take());
  ask("a", per_minute(5));
  ask("b", per_minute(5));
  queue.fail_all({ErrorCode::Unavailable, "closed"});
  EXPECT_EQ(answers.errors,
            (std::map<std::size_t, std::string>{{0, "closed"}, {1, "closed"}, {2, "closed"}}));
}

}  // namespace
}  // namespace penstock::redis_store
