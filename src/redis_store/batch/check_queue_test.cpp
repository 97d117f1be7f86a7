#include "redis_store/batch/check_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;

constexpr base::Deadline kAsked{std::chrono::hours{1}};
constexpr base::Deadline kLater = kAsked + milliseconds{10};

KeyCheck check(std::string key, const Quota& quota, std::uint64_t cost = 1) {
  return {.key = std::move(key), .quota = quota, .cost = Cost{cost}};
}

struct CheckQueueTest : ::testing::Test {
  void ask(const std::string& key, const Quota& quota, std::uint64_t cost = 1,
           base::Deadline deadline = kLater) {
    ask({check(key, quota, cost)}, deadline);
  }
  void ask(std::vector<KeyCheck> checks, base::Deadline deadline = kLater) {
    queue.add({.request = {.checks = std::move(checks)},
               .deadline = deadline,
               .decided = [this, question = asked++](const auto& said) {
                 EXPECT_FALSE(errors.contains(question)) << "answered twice";
                 errors[question] = said ? "" : said.error().detail;
                 if (on_answer) std::exchange(on_answer, nullptr)();
               }});
  }
  std::vector<Batch> take() { return queue.take(kAsked); }

  CheckQueue queue{CheckQueue::Spread::OneServer};
  std::map<std::size_t, std::string> errors;
  std::function<void()> on_answer;  // the next one
  std::size_t asked = 0;
};

struct CheckQueueOfClusterTest : CheckQueueTest {
  CheckQueueOfClusterTest() { queue = CheckQueue{CheckQueue::Spread::BySlot}; }
};

TEST_F(CheckQueueTest, KeysOfOneQuotaShareACall) {
  for (int i = 0; i < 10; ++i) ask("k" + std::to_string(i), per_minute(5));
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].kind, CallKind::Buckets);
  EXPECT_EQ(batches[0].lanes.size(), 10U);
  EXPECT_FALSE(queue.has_ready());
}

TEST_F(CheckQueueTest, ChecksOfOneKeyShareAnItem) {
  for (int i = 0; i < 10; ++i) ask("k", per_minute(5));
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].lanes.size(), 1U);
  ASSERT_EQ(batches[0].lanes[0]->asked.size(), 10U);
  for (WaitingRequest& each : batches[0].lanes[0]->asked) {
    const std::size_t answered = errors.size();
    each.answer(store_closed());
    EXPECT_TRUE(errors.contains(answered)) << "in order of arrival";
  }
}

TEST_F(CheckQueueTest, HasOneCallInFlightPerKey) {
  ask("k", per_minute(5));
  std::vector<Batch> batches = take();
  ask("k", per_minute(5));
  ask("k", per_minute(5));
  EXPECT_FALSE(queue.has_ready());
  EXPECT_TRUE(take().empty());
  queue.finish(*batches[0].lanes[0]);
  EXPECT_TRUE(queue.has_ready());
  batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].lanes[0]->asked.size(), 2U);
  queue.finish(*batches[0].lanes[0]);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(CheckQueueTest, KeepsQuotasAndCostsApart) {
  ask("a", per_minute(5));
  ask("b", per_minute(6));
  ask("c", per_minute(5), 2);
  ask("d", per_minute(5));
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].lanes.size(), 2U);
}

TEST_F(CheckQueueTest, UsesTheGeneralScriptWhereTheFastOneCannot) {
  ask("window", per_minute(5).fixed_window());
  ask("peek", per_minute(5), 0);
  ask("never", per_minute(5), 6);
  ask("mixed", per_minute(5));
  ask("mixed", per_minute(5), 2);
  std::size_t keys = 0;
  for (const Batch& batch : take()) {
    EXPECT_EQ(batch.kind, CallKind::Decide);
    keys += batch.lanes.size();
  }
  EXPECT_EQ(keys, 4U);
}

TEST_F(CheckQueueOfClusterTest, KeepsSlotsApart) {
  ask("{a}", per_minute(5));
  ask("{b}", per_minute(5));
  ask("{a}x", per_minute(5));
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].lanes.size(), 2U);
}

TEST_F(CheckQueueTest, SplitsBatchesThatWouldBlockTheServerTooLong) {
  for (std::size_t i = 0; i < CheckQueue::kMaxChecks + 1; ++i) {
    ask("k" + std::to_string(i), per_minute(5));
  }
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].lanes.size(), CheckQueue::kMaxChecks);
}

TEST_F(CheckQueueTest, AnswersExpiredChecksWithoutACall) {
  ask("k", per_minute(5), 1, kAsked);
  ask("k", per_minute(5), 1, kLater);
  ask("other", per_minute(5), 1, kAsked - milliseconds{1});
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].lanes[0]->asked.size(), 1U);
  EXPECT_EQ(errors.size(), 2U);
  EXPECT_EQ(queue.size(), 1U);
}

TEST_F(CheckQueueTest, ACallEndsAtItsLatestDeadline) {
  ask("a", per_minute(5), 1, kLater);
  ask("b", per_minute(5), 1, kLater + std::chrono::microseconds{5});
  ask("c", per_minute(5), 1, kLater + milliseconds{100});
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 2U);  // no check waits for the timeout of others
  EXPECT_EQ(batches[0].deadline, kLater + std::chrono::microseconds{5});
  EXPECT_EQ(queue.next_expiry(), base::Deadline::max());  // too little for a timer
}

TEST_F(CheckQueueTest, AnswersByTheDeadlineOfTheCheckDespiteALongerCall) {
  ask("k", per_minute(5), 1, kLater);
  const std::vector<Batch> batches = take();
  ask("k", per_minute(5), 1, kAsked + milliseconds{3});
  ask("k", per_minute(5), 1, kAsked + milliseconds{2});
  EXPECT_EQ(queue.next_expiry(), kAsked + milliseconds{2});
  queue.expire(kAsked + milliseconds{2});
  EXPECT_EQ(
      errors,
      (std::map<std::size_t, std::string>{{2, "the deadline passed before the check was sent"}}));
  EXPECT_EQ(queue.next_expiry(), kAsked + milliseconds{3});
  queue.expire(kAsked + milliseconds{3});
  EXPECT_EQ(errors.size(), 2U);
  EXPECT_EQ(queue.next_expiry(), base::Deadline::max());
  queue.finish(*batches[0].lanes[0]);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(CheckQueueTest, AShortDeadlineDoesNotEndTheWaitOfOthers) {
  ask("k", per_minute(5), 1, kAsked + milliseconds{1});
  ask("k", per_minute(5), 1, kLater);
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].deadline, kLater);
  queue.expire(queue.next_expiry());
  EXPECT_EQ(errors, (std::map<std::size_t, std::string>{{0, "no reply before the deadline"}}));
  // the reply completes all checks of the call; each is answered once
  for (WaitingRequest& check : batches[0].lanes[0]->asked) {
    check.answer(std::vector{Decision::allow(5, 4, Duration{1})});
  }
  EXPECT_EQ(errors[1], "");
  EXPECT_EQ(errors[0], "no reply before the deadline");
  queue.finish(*batches[0].lanes[0]);
  EXPECT_EQ(queue.next_expiry(), base::Deadline::max());
  EXPECT_EQ(queue.size(), 0U);
}

// With calls that take as long as possible, as on a server that hangs, each check is answered by
// its own deadline.
RC_GTEST_FIXTURE_PROP(CheckQueueTest, AnswersEveryCallerByItsOwnDeadline, ()) {
  using Micros = std::chrono::microseconds;
  constexpr Micros kSlack{500};
  struct Under {
    base::Deadline ends;
    Lane* queue;
  };
  std::vector<Under> calls;
  std::map<std::size_t, base::Deadline> deadlines;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 3000), rc::gen::inRange(1, 20'000)));
  base::Deadline now = kAsked;
  const auto pass = [&](base::Deadline until) {
    while (true) {
      base::Deadline next = queue.next_expiry();
      auto call = std::min_element(calls.begin(), calls.end(),
                                   [](const auto& a, const auto& b) { return a.ends < b.ends; });
      const bool is_call = call != calls.end() && call->ends < next;
      if (is_call) next = call->ends;
      if (next > until) break;
      now = next;
      if (is_call) {
        for (WaitingRequest& check : call->queue->asked) {
          check.answer(Error{ErrorCode::Timeout, "no reply"});
        }
        queue.finish(*call->queue);
        calls.erase(call);
      } else {
        queue.expire(now);
      }
      for (const Batch& batch : queue.take(now)) {
        for (Lane* each : batch.lanes) calls.push_back({batch.deadline, each});
      }
      for (const auto& [question, deadline] : deadlines) {
        RC_ASSERT(errors.contains(question) || deadline + kSlack >= now);
      }
    }
    now = until;
  };
  for (const auto& [pause, timeout] : steps) {
    pass(now + Micros{pause});
    deadlines[asked] = now + Micros{timeout};
    ask(pause % 2 == 0 ? "even" : "odd", per_minute(5), 1, now + Micros{timeout});
    for (const Batch& batch : queue.take(now)) {
      for (Lane* each : batch.lanes) calls.push_back({batch.deadline, each});
    }
  }
  pass(now + milliseconds{100});
  RC_ASSERT(errors.size() == deadlines.size());
  RC_ASSERT(queue.size() == 0U);
}

TEST_F(CheckQueueTest, FailsEveryWaiterOnShutdown) {
  ask("a", per_minute(5));
  static_cast<void>(take());
  ask("a", per_minute(5));
  ask("b", per_minute(5));
  queue.fail_all({ErrorCode::Unavailable, "closed"});
  EXPECT_EQ(errors,
            (std::map<std::size_t, std::string>{{0, "closed"}, {1, "closed"}, {2, "closed"}}));
}

TEST_F(CheckQueueTest, RequestsForTheSameLimitsShareACall) {
  for (int i = 0; i < 10; ++i) {
    ask({check("u" + std::to_string(i), per_minute(5)), check("all", per_hour(100), 2)});
  }
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].kind, CallKind::Buckets);
  ASSERT_EQ(batches[0].lanes.size(), 10U);
  EXPECT_EQ(batches[0].lanes[9]->asked[0].request.checks[0].key, "u9");  // in order of arrival
  EXPECT_FALSE(queue.has_ready());
}

TEST_F(CheckQueueTest, KeepsRequestsUnderOtherLimitsApart) {
  ask({check("a", per_minute(5)), check("b", per_hour(9))});
  ask({check("a", per_minute(5)), check("b", per_hour(8))});
  ask({check("a", per_minute(5)), check("b", per_hour(9), 2)});
  ask({check("a", per_minute(5))});
  ask({check("c", per_minute(5)), check("d", per_hour(9))});
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_EQ(batches[0].lanes.size(), 2U);
  for (const Batch& batch : batches) EXPECT_EQ(batch.kind, CallKind::Buckets);
}

TEST_F(CheckQueueTest, UsesTheGeneralScriptForRequestsThatTheFastOneCannotDecide) {
  ask({check("a", per_minute(5)), check("a", per_minute(5))});     // one limit twice
  ask({check("a", per_minute(5)), check("b", per_minute(5), 0)});  // a peek
  ask({check("a", per_minute(5)), check("b", per_minute(5), 6)});  // never fits
  const Quota window = per_minute(5).fixed_window();
  ask({check("a", window), check("b", window)});
  ask({check("a", per_minute(5)), check("b", window)});
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 3U);  // of buckets, of windows, of both
  EXPECT_EQ(batches[0].lanes.size(), 3U);
  for (const Batch& batch : batches) EXPECT_EQ(batch.kind, CallKind::Decide);
}

TEST_F(CheckQueueTest, BoundsTheChecksOfACall) {
  const auto most = [&](const Quota& quota) {
    std::size_t checks = 0;
    for (int i = 0; i < 500; ++i) ask({check("a", quota), check("b", quota), check("c", quota)});
    std::size_t requests = 0;
    for (const Batch& batch : take()) {
      checks = std::max(checks, 3 * batch.lanes.size());
      requests += batch.lanes.size();
    }
    EXPECT_EQ(requests, 500U);
    return checks;
  };
  EXPECT_EQ(most(per_minute(5)), 255U);
  EXPECT_EQ(most(per_minute(5).sliding_log()), 63U);
}

TEST_F(CheckQueueTest, ALargerRequestIsSentAlone) {
  const std::vector<KeyCheck> many(100, check("a", per_minute(5).fixed_window()));
  ask(many);
  ask(many);
  EXPECT_EQ(take().size(), 2U);
}

TEST_F(CheckQueueOfClusterTest, RequestsOfOneSlotShareACall) {
  ask({check("{a}1", per_minute(5)), check("{a}2", per_hour(9))});
  ask({check("{b}1", per_minute(5)), check("{b}2", per_hour(9))});
  ask({check("{a}3", per_minute(5)), check("{a}4", per_hour(9))});
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].lanes.size(), 2U);
  EXPECT_NE(batches[0].lanes[0]->slot, batches[1].lanes[0]->slot);
}

TEST_F(CheckQueueTest, ACallOfRequestsEndsAtItsLatestDeadline) {
  ask({check("a", per_minute(5))}, kLater + std::chrono::microseconds{400});
  ask({check("b", per_minute(5))}, kLater);
  ask({check("c", per_minute(5))}, kLater + milliseconds{100});
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].deadline, kLater + std::chrono::microseconds{400});
  EXPECT_EQ(batches[1].deadline, kLater + milliseconds{100});
}

TEST_F(CheckQueueTest, ExpiredRequestsAreNotSent) {
  ask({check("a", per_minute(5))}, kAsked);
  ask({check("b", per_minute(5))});
  ASSERT_EQ(take().size(), 1U);
  EXPECT_EQ(
      errors,
      (std::map<std::size_t, std::string>{{0, "the deadline passed before the check was sent"}}));
}

TEST_F(CheckQueueTest, RequestsWithSeveralKeysDoNotWaitForEachOther) {
  ask({check("a", per_minute(5)), check("b", per_hour(9))});
  ASSERT_EQ(take().size(), 1U);
  ask({check("a", per_minute(5)), check("b", per_hour(9))});
  ask("a", per_minute(5));
  EXPECT_EQ(take().size(), 2U);
}

TEST_F(CheckQueueTest, ARequestIsAnsweredByItsDeadlineDespiteALongerCall) {
  ask({check("a", per_minute(5)), check("b", per_hour(9))}, kAsked + milliseconds{9});
  ask({check("c", per_minute(5)), check("d", per_hour(9))}, kAsked + milliseconds{11});
  const std::vector<Batch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].deadline, kAsked + milliseconds{11});
  EXPECT_EQ(queue.next_expiry(), kAsked + milliseconds{9});
  queue.expire(queue.next_expiry());
  EXPECT_EQ(errors, (std::map<std::size_t, std::string>{{0, "no reply before the deadline"}}));
  for (Lane* const lane : batches[0].lanes) queue.finish(*lane);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(CheckQueueTest, AnAnswerMayAddARequestOfTheSameKey) {
  ask("k", per_minute(5), 1, kAsked);
  on_answer = [this] { ask("k", per_minute(5)); };
  std::vector<Batch> batches = take();  // answers the first, which adds the second
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].lanes[0]->asked.size(), 1U);
  EXPECT_TRUE(take().empty());
  batches[0].lanes[0]->asked[0].answer(store_closed());
  queue.finish(*batches[0].lanes[0]);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(CheckQueueTest, AnAnswerMayCloseTheQueue) {
  ask("k", per_minute(5), 1, kAsked);
  ask("k", per_minute(5));
  ask("other", per_minute(5));
  on_answer = [this] { queue.fail_all({ErrorCode::Unavailable, "closed"}); };
  EXPECT_TRUE(take().empty());
  ask("late", per_minute(5));
  EXPECT_EQ(errors.size(), 4U);
  EXPECT_EQ(errors[3], "closed");
}

}  // namespace
}  // namespace penstock::redis_store
