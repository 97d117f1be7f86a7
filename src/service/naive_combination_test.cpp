#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

// The service against the plainest way to say what it does.
namespace penstock::service {
namespace {

using rules::MatchedLimit;
using rules::Rule;

// Nothing comes back by itself, so that a count is a number.
class NaiveCounts {
 public:
  [[nodiscard]] std::uint64_t left(const MatchedLimit& limit) {
    return limit.check.quota.limit() - used_[limit.check.name.limit];
  }
  [[nodiscard]] bool fits(const MatchedLimit& limit) {
    return limit.check.cost.units <= left(limit);
  }
  void take(const MatchedLimit& limit) { used_[limit.check.name.limit] += limit.check.cost.units; }
  void charge_denied(const MatchedLimit& limit) {
    used_[limit.check.name.limit] += std::min(limit.check.cost.units, left(limit));
  }
  void give_back(const MatchedLimit& limit) {
    std::uint64_t& used = used_[limit.check.name.limit];
    used -= std::min(used, limit.check.cost.units);
  }

 private:
  std::map<std::string, std::uint64_t> used_;
};

bool naive_decide(NaiveCounts& counts, const std::vector<MatchedLimit>& limits) {
  std::map<Role, std::vector<MatchedLimit>> by_role;
  for (const MatchedLimit& limit : limits) by_role[role_of(limit)].push_back(limit);
  bool enforced_pass = true;
  for (const MatchedLimit& limit : by_role[Role::Enforced]) {
    enforced_pass = enforced_pass && counts.fits(limit);
  }
  bool allowed = enforced_pass;
  if (enforced_pass) {
    // one in shadow mode never denies
    bool any_alternative =
        by_role[Role::Alternative].empty() ||
        std::any_of(by_role[Role::Shadow].begin(), by_role[Role::Shadow].end(),
                    [](const MatchedLimit& limit) { return limit.rule->quota_mode; });
    for (const MatchedLimit& limit : by_role[Role::Alternative]) {
      if (!counts.fits(limit)) continue;
      counts.take(limit);
      any_alternative = true;
    }
    allowed = any_alternative;
  }
  for (const MatchedLimit& limit : by_role[Role::Enforced]) {
    if (allowed) counts.take(limit);
    if (!allowed && limit.rule->count_denied) counts.charge_denied(limit);
  }
  for (const MatchedLimit& limit : by_role[Role::Alternative]) {
    if (enforced_pass && !allowed && limit.rule->count_denied) counts.charge_denied(limit);
  }
  for (const MatchedLimit& limit : by_role[Role::Shadow]) {
    if (allowed && counts.fits(limit)) counts.take(limit);
  }
  for (const MatchedLimit& limit : by_role[Role::Refund]) counts.give_back(limit);
  return allowed;
}

std::vector<Rule> random_rules() {
  std::vector<Rule> rules(*rc::gen::inRange<std::size_t>(1, 7));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].name = "rule" + std::to_string(i);
    rules[i].shadow = *rc::gen::inRange(0, 4) == 0;
    rules[i].quota_mode = *rc::gen::inRange(0, 3) == 0;
    rules[i].count_denied = *rc::gen::inRange(0, 3) == 0;
  }
  return rules;
}

RC_GTEST_PROP(Decide, AnswersAsTheNaiveCombination, ()) {
  const std::vector<Rule> rules = random_rules();
  TestService service;
  NaiveCounts counts;
  std::vector<bool> is_zero;
  for (std::size_t i = 0; i < rules.size(); ++i) is_zero.push_back(*rc::gen::inRange(0, 8) == 0);
  const int requests = *rc::gen::inRange(1, 30);
  for (int request = 0; request < requests; ++request) {
    std::vector<MatchedLimit> limits;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (*rc::gen::inRange(0, 4) == 0) continue;
      limits.push_back(matched_limit(rules[i], static_cast<std::int64_t>(3 + 2 * i),
                                     *rc::gen::inRange<std::uint64_t>(1, 4)));
      if (is_zero[i]) limits.back().check.quota = Quota::none(Days{300});
      limits.back().is_refund = *rc::gen::inRange(0, 8) == 0;
    }
    service.store.is_late = *rc::gen::arbitrary<bool>();
    const Answer looked_at = [&] {
      std::optional<Answer> said;
      peek(service.deps(), TestService::answer_with(limits), {},
           [&](Answer answer) { said = std::move(answer); });
      service.store.answer_late();
      return *said;
    }();
    std::optional<Answer> answer;
    service.decide_later(limits, answer);
    service.store.answer_late();
    const bool expected = naive_decide(counts, limits);
    RC_ASSERT(answer->allowed == expected);
    RC_ASSERT(looked_at.allowed == expected);
    for (const MatchedLimit& limit : limits) {
      RC_ASSERT(service.store.remaining(limit.check.name, limit.check.quota) == counts.left(limit));
    }
  }
}

TEST(Peek, OfOneKeyUnderTwoQuotasEqualsACheck) {
  Rule rule;
  rule.name = "r";
  TestService service;
  const std::vector<MatchedLimit> limits{matched_limit(rule, 9, 1), matched_limit(rule, 50, 1)};
  int admitted = 0;
  bool passes = true;
  while (passes) {
    std::optional<Answer> looked_at;
    peek(service.deps(), TestService::answer_with(limits), {},
         [&](Answer answer) { looked_at = std::move(answer); });
    std::optional<Answer> answer;
    service.decide_later(limits, answer);
    ASSERT_EQ(looked_at->allowed, answer->allowed) << admitted;
    passes = answer->allowed;
    admitted += passes ? 1 : 0;
  }
  EXPECT_EQ(admitted, 4) << "each request takes two, and nine is the stricter limit";
}

}  // namespace
}  // namespace penstock::service
