#include "redis_store/batch/check_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;

constexpr base::Deadline kAsked{std::chrono::hours{1}};
constexpr base::Deadline kLater = kAsked + milliseconds{10};

class Answers : public DecisionHandler {
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
                    .handler = &answers,
                    .question = asked++});
  }
  std::vector<CheckBatch> take(CheckQueue::Spread spread = CheckQueue::Spread::OneServer) {
    return queue.take(spread, kAsked);
  }

  CheckQueue queue;
  Answers answers;
  std::size_t asked = 0;
};

TEST_F(CheckQueueTest, KeysOfOneQuotaShareACall) {
  for (int i = 0; i < 10; ++i) ask("k" + std::to_string(i), per_minute(5));
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].kind, CallKind::Buckets);
  EXPECT_EQ(batches[0].keys.size(), 10U);
  EXPECT_FALSE(queue.has_ready());
}

TEST_F(CheckQueueTest, ChecksOfOneKeyShareAnItem) {
  for (int i = 0; i < 10; ++i) ask("k", per_minute(5));
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  ASSERT_EQ(batches[0].keys.size(), 1U);
  ASSERT_EQ(batches[0].keys[0]->asked.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(batches[0].keys[0]->asked[i].question, i);
}

TEST_F(CheckQueueTest, HasOneCallInFlightPerKey) {
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

TEST_F(CheckQueueTest, UsesTheGeneralScriptWhereTheFastOneCannot) {
  ask("window", per_minute(5).fixed_window());
  ask("peek", per_minute(5), 0);
  ask("never", per_minute(5), 6);
  ask("mixed", per_minute(5));
  ask("mixed", per_minute(5), 2);
  std::size_t keys = 0;
  for (const CheckBatch& batch : take()) {
    EXPECT_EQ(batch.kind, CallKind::Decide);
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

TEST_F(CheckQueueTest, SplitsBatchesThatWouldBlockTheServerTooLong) {
  for (std::size_t i = 0; i < CheckQueue::kMaxKeys + 1; ++i) {
    ask("k" + std::to_string(i), per_minute(5));
  }
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].keys.size(), CheckQueue::kMaxKeys);
}

TEST_F(CheckQueueTest, AnswersExpiredChecksWithoutACall) {
  ask("k", per_minute(5), 1, kAsked);
  ask("k", per_minute(5), 1, kLater);
  ask("other", per_minute(5), 1, kAsked - milliseconds{1});
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].keys[0]->asked.size(), 1U);
  EXPECT_EQ(answers.errors.size(), 2U);
  EXPECT_EQ(queue.size(), 1U);
}

TEST_F(CheckQueueTest, ACallEndsAtItsLatestDeadline) {
  ask("a", per_minute(5), 1, kLater);
  ask("b", per_minute(5), 1, kLater + std::chrono::microseconds{5});
  ask("c", per_minute(5), 1, kLater + milliseconds{100});
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 2U);  // no check waits for the timeout of others
  EXPECT_EQ(batches[0].deadline, kLater + std::chrono::microseconds{5});
  EXPECT_EQ(queue.next_expiry(), base::Deadline::max());  // too little for a timer
}

TEST_F(CheckQueueTest, AnswersByTheDeadlineOfTheCheckDespiteALongerCall) {
  ask("k", per_minute(5), 1, kLater);
  const std::vector<CheckBatch> batches = take();
  ask("k", per_minute(5), 1, kAsked + milliseconds{3});
  ask("k", per_minute(5), 1, kAsked + milliseconds{2});
  EXPECT_EQ(queue.next_expiry(), kAsked + milliseconds{2});
  queue.expire(kAsked + milliseconds{2});
  EXPECT_EQ(
      answers.errors,
      (std::map<std::size_t, std::string>{{2, "the deadline passed before the check was sent"}}));
  EXPECT_EQ(queue.next_expiry(), kAsked + milliseconds{3});
  queue.expire(kAsked + milliseconds{3});
  EXPECT_EQ(answers.errors.size(), 2U);
  EXPECT_EQ(queue.next_expiry(), base::Deadline::max());
  queue.finish(*batches[0].keys[0]);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(CheckQueueTest, AShortDeadlineDoesNotEndTheWaitOfOthers) {
  ask("k", per_minute(5), 1, kAsked + milliseconds{1});
  ask("k", per_minute(5), 1, kLater);
  const std::vector<CheckBatch> batches = take();
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].deadline, kLater);
  queue.expire(queue.next_expiry());
  EXPECT_EQ(answers.errors,
            (std::map<std::size_t, std::string>{{0, "no reply before the deadline"}}));
  // the reply completes all checks of the call; each is answered once
  for (WaitingCheck& check : batches[0].keys[0]->asked) {
    check.answer(Decision::allow(5, 4, Duration{1}));
  }
  EXPECT_EQ(answers.errors[1], "");
  EXPECT_EQ(answers.errors[0], "no reply before the deadline");
  queue.finish(*batches[0].keys[0]);
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
    KeyQueue* queue;
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
        for (WaitingCheck& check : call->queue->asked) {
          check.answer(Error{ErrorCode::Timeout, "no reply"});
        }
        queue.finish(*call->queue);
        calls.erase(call);
      } else {
        queue.expire(now);
      }
      for (const CheckBatch& batch : queue.take(CheckQueue::Spread::OneServer, now)) {
        for (KeyQueue* each : batch.keys) calls.push_back({batch.deadline, each});
      }
      for (const auto& [question, deadline] : deadlines) {
        RC_ASSERT(answers.errors.contains(question) || deadline + kSlack >= now);
      }
    }
    now = until;
  };
  for (const auto& [pause, timeout] : steps) {
    pass(now + Micros{pause});
    deadlines[asked] = now + Micros{timeout};
    ask(pause % 2 == 0 ? "even" : "odd", per_minute(5), 1, now + Micros{timeout});
    for (const CheckBatch& batch : queue.take(CheckQueue::Spread::OneServer, now)) {
      for (KeyQueue* each : batch.keys) calls.push_back({batch.deadline, each});
    }
  }
  pass(now + milliseconds{100});
  RC_ASSERT(answers.errors.size() == deadlines.size());
  RC_ASSERT(queue.size() == 0U);
}

TEST_F(CheckQueueTest, FailsEveryWaiterOnShutdown) {
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
