#include "net/timeouts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace penstock::net {
namespace {

using std::chrono::seconds;

base::Deadline at(int second) { return base::Deadline{seconds{second}}; }

Timeouts::Durations some_limits() {
  Timeouts::Durations limits;
  limits.fill(std::chrono::steady_clock::duration::max());
  limits.at(static_cast<std::size_t>(Phase::Idle)) = seconds{75};
  limits.at(static_cast<std::size_t>(Phase::Header)) = seconds{10};
  limits.at(static_cast<std::size_t>(Phase::Write)) = seconds{10};
  return limits;
}

class Member : public TimeoutEntry {
 public:
  void expire(Phase phase) override { expired.push_back(phase); }
  std::vector<Phase> expired;
};

TEST(Timeouts, ExpireAtTheLimitOfThePhaseAndOnlyOnce) {
  Timeouts timeouts(some_limits());
  Member member;
  timeouts.enter(member, Phase::Header, at(100));
  timeouts.expire(at(109));
  EXPECT_TRUE(member.expired.empty());
  timeouts.expire(at(110));
  timeouts.expire(at(111));
  EXPECT_EQ(member.expired, std::vector{Phase::Header});
  EXPECT_EQ(member.phase(), Phase::Closing);
}

TEST(Timeouts, NewLimitsHoldForEntriesThatAreInThePhaseAlready) {
  Timeouts timeouts(some_limits());
  Member early;
  Member late;
  timeouts.enter(early, Phase::Idle, at(100));
  Timeouts::Durations limits = some_limits();
  limits.at(static_cast<std::size_t>(Phase::Idle)) = seconds{5};
  timeouts.set_limits(limits);
  timeouts.enter(late, Phase::Idle, at(103));
  timeouts.expire(at(105));
  EXPECT_EQ(early.expired, std::vector{Phase::Idle});
  EXPECT_TRUE(late.expired.empty());
  timeouts.set_limits(some_limits());
  timeouts.expire(at(177));
  EXPECT_TRUE(late.expired.empty());
  timeouts.expire(at(178));
  EXPECT_EQ(late.expired, std::vector{Phase::Idle});
}

TEST(Timeouts, ForgetDestroyedEntries) {
  Timeouts timeouts(some_limits());
  auto member = std::make_unique<Member>();
  timeouts.enter(*member, Phase::Header, at(0));
  member.reset();
  timeouts.expire(at(1000));
}

TEST(Timeouts, NeverExpireWithoutALimit) {
  Timeouts timeouts(some_limits());
  Member member;
  timeouts.enter(member, Phase::Processing, at(0));
  timeouts.expire(base::Deadline::max() - seconds{1});
  EXPECT_TRUE(member.expired.empty());
}

TEST(Timeouts, VisitEveryEntryEvenIfEntriesUnlinkMeanwhile) {
  Timeouts timeouts(some_limits());
  std::vector<Member> members(5);
  for (Member& member : members) timeouts.enter(member, Phase::Idle, at(0));
  timeouts.enter(members[1], Phase::Write, at(0));
  int visits = 0;
  timeouts.for_each([&](TimeoutEntry& entry) {
    ++visits;
    entry.unlink();
  });
  EXPECT_EQ(visits, 5);
  timeouts.for_each([&](TimeoutEntry&) { ++visits; });
  EXPECT_EQ(visits, 5);
}

TEST(Timeouts, StayInOrderWhenAVisitedEntryEntersItsPhaseAgain) {
  Timeouts timeouts(some_limits());
  std::vector<Member> members(3);
  for (Member& member : members) timeouts.enter(member, Phase::Idle, at(0));
  int visits = 0;
  timeouts.for_each([&](TimeoutEntry& entry) {
    ++visits;
    if (&entry == &members[0]) timeouts.enter(entry, Phase::Idle, at(50));
  });
  EXPECT_EQ(visits, 3);
  timeouts.expire(at(75));
  EXPECT_TRUE(members[0].expired.empty());
  EXPECT_EQ(members[1].expired.size(), 1U);
  EXPECT_EQ(members[2].expired.size(), 1U);
}

TEST(Timeouts, AVisitMayVisitAllEntries) {
  Timeouts timeouts(some_limits());
  std::vector<Member> members(3);
  for (Member& member : members) timeouts.enter(member, Phase::Idle, at(0));
  std::map<TimeoutEntry*, int> inner;
  int outer = 0;
  timeouts.for_each([&](TimeoutEntry&) {
    ++outer;
    timeouts.for_each([&](TimeoutEntry& entry) { ++inner[&entry]; });
    timeouts.expire(at(10));
  });
  EXPECT_EQ(outer, 3);
  for (Member& member : members) EXPECT_EQ(inner[&member], 3);
}

// Compared with a plain list of deadlines.
RC_GTEST_PROP(Timeouts, ExpireTheSameAsAListOfDeadlines, ()) {
  Timeouts timeouts(some_limits());
  std::vector<Member> members(6);
  std::vector<std::optional<int>> deadlines(members.size());
  std::vector<std::size_t> expected(members.size());
  int now = 0;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 30), rc::gen::inRange(0, 18)));
  for (const auto& [pause, act] : steps) {
    now += pause;
    timeouts.expire(at(now));
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!deadlines[i] || *deadlines[i] > now) continue;
      ++expected[i];
      deadlines[i].reset();
    }
    const auto who = static_cast<std::size_t>(act % 6);
    const bool idle = act < 6;
    if (act >= 12) continue;
    timeouts.enter(members[who], idle ? Phase::Idle : Phase::Header, at(now));
    deadlines[who] = now + (idle ? 75 : 10);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    RC_ASSERT(members[i].expired.size() == expected[i]);
  }
}

}  // namespace
}  // namespace penstock::net
