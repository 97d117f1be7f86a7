#include "service/decide.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

// A store that answers some calls inline against one that answers none inline.
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
    if (*rc::gen::inRange(0, 20) == 0) limits.back().check.quota = Quota::none(Days{300});
  }
  return limits;
}

void expect_same(const Answer& a, const Answer& b) {
  RC_ASSERT(text_of(a) == text_of(b));
  for (std::size_t i = 0; i < a.limits.size(); ++i) {
    RC_ASSERT(a.limits[i].decision == b.limits[i].decision);
    RC_ASSERT(a.limits[i].matched.check.name == b.limits[i].matched.check.name);
  }
}

struct Sides {
  TestService inline_store;
  TestService other_store;

  Sides() { inline_store.store.answers_inline = true; }

  void block(const core::LimitKey& name) {
    inline_store.store.block_now(name);
    other_store.store.block_now(name);
  }
  void compare(const Answer& undecided) {
    decide(inline_store, undecided);
    decide(other_store, undecided);
    expect_same(inline_store.events.answers.back(), other_store.events.answers.back());
  }
  void expect_same_traces(const std::vector<MatchedLimit>& limits) {
    RC_ASSERT(inline_store.store.calls.size() == other_store.store.calls.size());
    RC_ASSERT(inline_store.events.calls == other_store.events.calls);
    RC_ASSERT(inline_store.events.domains == other_store.events.domains);
    for (const MatchedLimit& limit : limits) {
      const core::NamedCheck& check = limit.check;
      RC_ASSERT(inline_store.store.remaining(check.name, check.quota) ==
                other_store.store.remaining(check.name, check.quota));
    }
  }

 private:
  static void decide(TestService& service, const Answer& undecided) {
    std::optional<Answer> answer;
    service::decide(service.deps(), Answer(undecided), "api", {},
                    [&](Answer said) { answer = std::move(said); });
    service.store.answer_late();
    RC_ASSERT(answer.has_value());
    expect_same(*answer, service.events.answers.back());
  }
};

RC_GTEST_PROP(Decide, AnswersInlineAsWithStoreCalls, ()) {
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
    sides.inline_store.store.inline_calls = *rc::gen::inRange(-1, 4);
    sides.other_store.store.is_late = *rc::gen::arbitrary<bool>();
    Answer undecided = TestService::answer_with(limits);
    undecided.match.list_entry = list_entry;
    sides.compare(undecided);
    sides.expect_same_traces(limits);
  }
}

TEST(Decide, DoesNotAskAStoreThatAnswersInlineTwice) {
  TestService service;
  service.store.answers_inline = true;
  const Rule rule{.domain = "api", .name = "user"};
  const Rule shadow{.domain = "api", .name = "shadow", .shadow = true};
  EXPECT_TRUE(service.decide({matched_limit(rule, 1), matched_limit(shadow, 1)}).allowed);
  EXPECT_EQ(service.store.calls.size(), 2U);
  EXPECT_EQ(service.events.calls, 2);
  EXPECT_EQ(service.events.answers.size(), 1U);
}

}  // namespace
}  // namespace penstock::service
