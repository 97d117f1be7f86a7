#include "service/try_answer.hpp"

#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

// The short way against RequestFlow, which is the one that says what is right.
namespace penstock::service {
namespace {

using rules::MatchedLimit;
using rules::Rule;

std::vector<Rule> any_rules() {
  // a rule that is unusual in one way or another, for a good half of all requests
  const auto seldom = [] { return *rc::gen::inRange(0, 12) == 0; };
  std::vector<Rule> rules(*rc::gen::inRange<std::size_t>(1, 7));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].name = "rule" + std::to_string(i);
    rules[i].shadow = seldom();
    rules[i].quota_mode = seldom();
    rules[i].count_denied = seldom();
    rules[i].on_failure = *rc::gen::element(rules::OnFailure::Open, rules::OnFailure::Closed);
  }
  return rules;
}

std::vector<MatchedLimit> random_limits(const std::vector<Rule>& rules) {
  std::vector<MatchedLimit> limits;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (*rc::gen::inRange(0, 3) == 0) continue;
    limits.push_back(matched_limit(rules[i], static_cast<std::int64_t>(3 + 2 * i),
                                   *rc::gen::inRange<std::uint64_t>(0, 5)));
    limits.back().is_refund = *rc::gen::inRange(0, 12) == 0;
    if (*rc::gen::inRange(0, 5) == 0) limits.back().rule = nullptr;  // came with the request
  }
  return limits;
}

bool is_plain(const MatchedLimit& limit) {
  if (limit.is_refund) return false;
  if (limit.rule == nullptr) return true;
  return !limit.rule->shadow && !limit.rule->quota_mode && !limit.rule->count_denied;
}

void expect_same(const Answer& a, const Answer& b) {
  RC_ASSERT(text_of(a) == text_of(b));
  for (std::size_t i = 0; i < a.limits.size(); ++i) {
    RC_ASSERT(a.limits[i].decision == b.limits[i].decision);
    RC_ASSERT(a.limits[i].matched.check.name == b.limits[i].matched.check.name);
  }
}

struct Sides {
  TestService quick;
  TestService general;

  Sides() { quick.store.answers_inline = true; }

  void block(const core::LimitKey& name) {
    quick.store.block_now(name);
    general.store.block_now(name);
  }
  void compare(const std::vector<MatchedLimit>& limits, const Rule* list_entry) {
    Answer start = TestService::answer_with(limits);
    start.match.list_entry = list_entry;
    Answer answer = start;
    const bool was_plain = std::all_of(limits.begin(), limits.end(), is_plain);
    RC_ASSERT(try_answer(quick.deps(), "api", answer) == was_plain);
    if (!was_plain) {
      RC_ASSERT(quick.store.calls.size() == general.store.calls.size());
      RC_ASSERT(quick.events.calls == general.events.calls);
      follow(quick, start);
      return follow(general, start);
    }
    follow(general, start);
    expect_same(answer, general.events.answers.back());
    expect_same(quick.events.answers.back(), general.events.answers.back());
  }
  void expect_same_traces(const std::vector<MatchedLimit>& limits) {
    RC_ASSERT(quick.store.calls.size() == general.store.calls.size());
    RC_ASSERT(quick.events.calls == general.events.calls);
    RC_ASSERT(quick.events.domains == general.events.domains);
    for (const MatchedLimit& limit : limits) {
      const core::NamedCheck& check = limit.check;
      RC_ASSERT(quick.store.remaining(check.name, check.quota) ==
                general.store.remaining(check.name, check.quota));
    }
  }

 private:
  static void follow(TestService& service, const Answer& start) {
    RequestFlow::start(service.deps(), start, "api", {}, [](const Answer&) {});
  }
};

RC_GTEST_PROP(TryAnswer, EqualsRequestFlow, ()) {
  const std::vector<Rule> rules = any_rules();
  const Rule allow{.domain = "api", .name = "list", .action = rules::Action::Allow};
  const Rule deny{.domain = "api", .name = "list", .action = rules::Action::Deny};
  Sides sides;
  const int requests = *rc::gen::inRange(1, 30);
  for (int request = 0; request < requests; ++request) {
    const std::vector<MatchedLimit> limits = random_limits(rules);
    if (!limits.empty() && *rc::gen::inRange(0, 20) == 0) sides.block(limits[0].check.name);
    const Rule* const list_entry =
        *rc::gen::weightedElement<const Rule*>({{8, nullptr}, {1, &allow}, {1, &deny}});
    sides.compare(limits, list_entry);
    sides.expect_same_traces(limits);
  }
}

TEST(TryAnswer, LeavesAnAsynchronousStoreToRequestFlow) {
  TestService service;
  const Rule rule{.domain = "api", .name = "user"};
  Answer answer = TestService::answer_with({matched_limit(rule, 1)});
  EXPECT_FALSE(try_answer(service.deps(), "api", answer));
  EXPECT_TRUE(service.store.calls.empty());
  EXPECT_EQ(service.events.calls, 0);
  EXPECT_TRUE(service.events.answers.empty());
}

}  // namespace
}  // namespace penstock::service
