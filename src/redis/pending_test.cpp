#include "redis/pending.hpp"

#include "resp/command.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

using namespace std::chrono_literals;

constexpr base::Deadline kBegin{};

class IgnoringCall : public Call {
 public:
  void on_reply(Result<resp::Value>) override {}
};

PendingPtr pending(std::string bytes, base::Deadline deadline) {
  auto made = std::make_unique<Pending>();
  made->command = {.bytes = std::move(bytes), .deadline = deadline};
  made->call = std::make_unique<IgnoringCall>();
  made->since = kBegin;
  return made;
}

std::string written(PendingQueue& queue) {
  std::string buffer;
  queue.write_to(buffer);
  return buffer;
}

TEST(PendingQueue, WritesAllWaitingCommandsAndMatchesRepliesInOrder) {
  PendingQueue queue;
  queue.push(pending("a", kBegin + 5ms));
  queue.push(pending("b", kBegin + 5ms));
  EXPECT_EQ(written(queue), "ab");
  queue.push(pending("c", kBegin + 5ms));
  EXPECT_EQ(written(queue), "c");
  EXPECT_EQ(written(queue), "");
  for (const char* expected : {"a", "b", "c"}) {
    EXPECT_EQ(queue.pop_answered()->command.bytes, expected);
  }
  EXPECT_FALSE(queue.has_in_flight());
}

TEST(PendingQueue, TheLateReplyOfATimedOutCommandIsDropped) {
  PendingQueue queue;
  queue.push(pending("late", kBegin + 5ms));
  queue.push(pending("longer", kBegin + 50ms));
  static_cast<void>(written(queue));
  const PendingQueue::Expired expired = queue.expire(kBegin + 5ms);
  ASSERT_EQ(expired.in_flight.size(), 1U);
  EXPECT_EQ(expired.in_flight[0].budget, 5ms);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.pop_answered()->call, nullptr);
  EXPECT_NE(queue.pop_answered()->call, nullptr);
}

TEST(PendingQueue, AnUnwrittenCommandIsRemovedAtItsDeadline) {
  PendingQueue queue;
  queue.push(pending("a", kBegin + 50ms));
  queue.push(pending("late", kBegin + 5ms));
  queue.push(pending("b", kBegin + 50ms));
  EXPECT_EQ(queue.next_deadline(), kBegin + 5ms);
  const PendingQueue::Expired expired = queue.expire(kBegin + 5ms);
  ASSERT_EQ(expired.waiting.size(), 1U);
  EXPECT_NE(expired.waiting[0]->call, nullptr);
  EXPECT_EQ(queue.next_deadline(), kBegin + 50ms);
  EXPECT_EQ(written(queue), "ab");
}

TEST(PendingQueue, HasNoDeadlineWithoutCalls) {
  PendingQueue queue;
  EXPECT_EQ(queue.next_deadline(), PendingQueue::Time::max());
  queue.push(pending("a", kBegin + 5ms));
  static_cast<void>(written(queue));
  static_cast<void>(queue.expire(kBegin + 6ms));
  EXPECT_EQ(queue.next_deadline(), PendingQueue::Time::max());
}

TEST(PendingQueue, AskingPrecedesTheCommandAndItsReplyIsDropped) {
  PendingQueue queue;
  PendingPtr asked = pending("get", kBegin + 5ms);
  asked->prefix = Pending::Prefix::Asking;
  queue.push(std::move(asked));
  EXPECT_EQ(written(queue), resp::command({"ASKING"}) + "get");
  EXPECT_EQ(queue.pop_answered()->call, nullptr);
  EXPECT_EQ(queue.pop_answered()->command.bytes, "get");
}

TEST(PendingQueue, AConnectionIsStuckWhenTheOldestCommandIsLateAndNothingIsReceived) {
  PendingQueue queue;
  EXPECT_EQ(queue.stuck_at(kBegin), PendingQueue::Time::max());
  queue.push(pending("quick", kBegin + 10ms));
  static_cast<void>(written(queue));
  EXPECT_EQ(queue.stuck_at(kBegin), kBegin + 110ms);
  EXPECT_EQ(queue.stuck_at(kBegin + 20ms), kBegin + 120ms);
}

TEST(PendingQueue, AConnectionWithALongDeadlineIsStuckLater) {
  PendingQueue queue;
  queue.push(pending("slow", kBegin + 1s));
  static_cast<void>(written(queue));
  EXPECT_EQ(queue.stuck_at(kBegin), kBegin + 3s);
}

TEST(PendingQueue, ReturnsCommandsInFlightAndWaiting) {
  PendingQueue queue;
  queue.push(pending("a", kBegin + 5ms));
  static_cast<void>(written(queue));
  queue.push(pending("b", kBegin + 9ms));
  EXPECT_EQ(queue.take_in_flight().size(), 1U);
  EXPECT_EQ(queue.next_deadline(), kBegin + 9ms);
  EXPECT_EQ(queue.take_waiting().size(), 1U);
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace penstock::redis
