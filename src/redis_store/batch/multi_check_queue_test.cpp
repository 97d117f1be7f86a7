#include "redis_store/batch/multi_check_queue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;

constexpr base::Deadline kTaken{std::chrono::hours{1}};
constexpr base::Deadline kSoon = kTaken + milliseconds{10};

struct MultiCheckQueueTest : ::testing::Test {
  void ask(std::vector<KeyCheck> checks, base::Deadline deadline = kSoon) {
    queue.add({.request = {.checks = std::move(checks), .guard = {}},
               .deadline = deadline,
               .decided = [this](const auto& said) {
                 heard.push_back(said ? "decided" : said.error().detail);
               }});
  }
  std::vector<MultiCheckBatch> take(CheckQueue::Spread spread = CheckQueue::Spread::OneServer) {
    return queue.take(spread, kTaken);
  }

  MultiCheckQueue queue;
  std::vector<std::string> heard;
};

KeyCheck check(std::string key, const Quota& quota, std::uint64_t cost = 1) {
  return {.key = std::move(key), .quota = quota, .cost = Cost{cost}};
}

TEST_F(MultiCheckQueueTest, RequestsForTheSameLimitsShareACall) {
  for (int i = 0; i < 10; ++i) {
    ask({check("u" + std::to_string(i), per_minute(5)), check("all", per_hour(100), 2)});
  }
  const std::vector<MultiCheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].kind, CallKind::Buckets);
  ASSERT_EQ(batches[0].requests.size(), 10U);
  EXPECT_EQ(batches[0].requests[9].request.checks[0].key, "u9");  // in order of arrival
  EXPECT_TRUE(queue.empty());
}

TEST_F(MultiCheckQueueTest, KeepsOtherLimitsAndCostsApart) {
  ask({check("a", per_minute(5)), check("b", per_hour(9))});
  ask({check("a", per_minute(5)), check("b", per_hour(8))});
  ask({check("a", per_minute(5)), check("b", per_hour(9), 2)});
  ask({check("a", per_minute(5))});
  ask({check("c", per_minute(5)), check("d", per_hour(9))});
  const std::vector<MultiCheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_EQ(batches[0].requests.size(), 2U);
  for (const MultiCheckBatch& batch : batches) EXPECT_EQ(batch.kind, CallKind::Buckets);
}

TEST_F(MultiCheckQueueTest, UsesTheGeneralScriptWhereTheFastOneCannot) {
  ask({check("a", per_minute(5)), check("a", per_minute(5))});     // one limit twice
  ask({check("a", per_minute(5)), check("b", per_minute(5), 0)});  // a peek
  ask({check("a", per_minute(5)), check("b", per_minute(5), 6)});  // never fits
  const Quota window = per_minute(5).fixed_window();
  ask({check("a", window), check("b", window)});
  ask({check("a", per_minute(5)), check("b", window)});
  const std::vector<MultiCheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 3U);  // of buckets, of windows, of both
  EXPECT_EQ(batches[0].requests.size(), 3U);
  for (const MultiCheckBatch& batch : batches) EXPECT_EQ(batch.kind, CallKind::Decide);
}

TEST_F(MultiCheckQueueTest, BoundsACall) {
  const auto most = [&](const Quota& quota) {
    std::size_t checks = 0;
    for (int i = 0; i < 500; ++i) ask({check("a", quota), check("b", quota), check("c", quota)});
    std::size_t requests = 0;
    for (const MultiCheckBatch& batch : take()) {
      checks = std::max(checks, 3 * batch.requests.size());
      requests += batch.requests.size();
    }
    EXPECT_EQ(requests, 500U);
    return checks;
  };
  EXPECT_EQ(most(per_minute(5)), 255U);
  EXPECT_EQ(most(per_minute(5).sliding_log()), 63U);
}

TEST_F(MultiCheckQueueTest, ALargerRequestIsSentAlone) {
  const std::vector<KeyCheck> many(100, check("a", per_minute(5).fixed_window()));
  ask(many);
  ask(many);
  EXPECT_EQ(take().size(), 2U);
}

TEST_F(MultiCheckQueueTest, InAClusterOneSlotIsOneCall) {
  ask({check("{a}1", per_minute(5)), check("{a}2", per_hour(9))});
  ask({check("{b}1", per_minute(5)), check("{b}2", per_hour(9))});
  ask({check("{a}3", per_minute(5)), check("{a}4", per_hour(9))});
  const std::vector<MultiCheckBatch> batches = take(CheckQueue::Spread::BySlot);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].requests.size(), 2U);
  EXPECT_NE(batches[0].slot, batches[1].slot);
}

TEST_F(MultiCheckQueueTest, ACallEndsAtItsLatestDeadlineAndHasOnlyLittleEarlierOnes) {
  ask({check("a", per_minute(5))}, kSoon + std::chrono::microseconds{400});
  ask({check("b", per_minute(5))}, kSoon);
  ask({check("c", per_minute(5))}, kSoon + milliseconds{100});
  const std::vector<MultiCheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].deadline, kSoon + std::chrono::microseconds{400});
  EXPECT_EQ(batches[1].deadline, kSoon + milliseconds{100});
}

TEST_F(MultiCheckQueueTest, ExpiredRequestsAreNotSent) {
  ask({check("a", per_minute(5))}, kTaken);
  ask({check("b", per_minute(5))});
  ASSERT_EQ(take().size(), 1U);
  EXPECT_EQ(heard, std::vector<std::string>{"the deadline passed before the check was sent"});
}

TEST_F(MultiCheckQueueTest, FailsEveryWaiterOnShutdown) {
  ask({check("a", per_minute(5))});
  ask({check("b", per_minute(5))});
  queue.fail_all({ErrorCode::Unavailable, "closed"});
  EXPECT_EQ(heard, (std::vector<std::string>{"closed", "closed"}));
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace penstock::redis_store
