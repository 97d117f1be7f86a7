#pragma once

#include "service/decide.hpp"
#include "service_harness/test_store.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace penstock::service {

// Records events.
class TestEvents final : public Events {
 public:
  void on_store_call(std::chrono::steady_clock::duration /*waited*/,
                     const Error* failure) override {
    ++calls;
    if (failure != nullptr) failures.push_back(failure->code);
  }
  void on_answer(std::string_view domain, const Answer& answer) override {
    domains.emplace_back(domain);
    answers.push_back(answer);
  }
  void on_unknown_domain(std::string_view domain, rules::UnknownDomain /*answer*/) override {
    unknown_domains.emplace_back(domain);
  }
  // Recorded like on_answer().
  void on_take(std::string_view subject, const Decision& decision) override {
    Answer answer;
    answer.allowed = decision.allowed();
    answer.reason = answer.allowed ? Reason::WithinLimits : Reason::OverLimit;
    answer.limits.push_back(
        {.matched = {.check = {.name = {.subject = std::string(subject), .limit = {}},
                               .quota = per_second(1)},
                     .metric = std::string(kTake)},
         .decision = decision});
    answer.strictest = 0;
    on_answer(kTake, answer);
  }

  int calls = 0;
  std::vector<ErrorCode> failures{};
  std::vector<std::string> domains{};
  std::vector<Answer> answers{};
  std::vector<std::string> unknown_domains{};
};

// Everything a request needs, without rules: tests choose the limits.
struct TestService {
  TestStore store{};
  ManualClock clock{};
  store::ShardedTable local_memory{{.clock = &clock}};
  Membership members{4};
  LocalFallback local{local_memory, members};
  TestEvents events{};
  Duration store_timeout = std::chrono::hours{1};

  [[nodiscard]] ServiceDeps deps() {
    return {.stores = store.stores(),
            .local = local,
            .events = events,
            .store_timeout = &store_timeout,
            .clock = &clock};
  }

  // The answer, which must be available.
  Answer decide(std::vector<rules::MatchedLimit> limits) {
    std::optional<Answer> answer;
    decide_later(std::move(limits), answer);
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(Answer{});
  }
  void decide_later(std::vector<rules::MatchedLimit> limits, std::optional<Answer>& answer) {
    service::decide(deps(), answer_with(std::move(limits)), "api",
                    base::Deadline{} + std::chrono::hours{1}, [&](Answer said) {
                      EXPECT_FALSE(answer.has_value()) << "answered twice";
                      answer.emplace(std::move(said));
                    });
  }
  Answer dry_run(std::vector<rules::MatchedLimit> limits) {
    std::optional<Answer> answer;
    peek(deps(), answer_with(std::move(limits)), base::Deadline{},
         [&](Answer said) { answer.emplace(std::move(said)); });
    return answer.value_or(Answer{});
  }

  [[nodiscard]] static Answer answer_with(std::vector<rules::MatchedLimit> limits) {
    Answer answer;
    for (rules::MatchedLimit& each : limits) answer.limits.push_back({.matched = std::move(each)});
    return answer;
  }
};

// So long that nothing refills.
[[nodiscard]] inline Quota long_window(std::int64_t limit) {
  return Quota::make(per(limit, Days{300}).fixed_window()).value();
}

// A rule with one limit for subject "s"; the limit has the name of the rule.
[[nodiscard]] inline rules::MatchedLimit matched_limit(const rules::Rule& rule, std::int64_t limit,
                                                       std::uint64_t cost = 1) {
  rules::MatchedLimit made{
      .rule = &rule,
      .check = {.name = {"s", rule.name}, .quota = long_window(limit), .cost = {cost}}};
  return made;
}

// "denied over_limit by 1: 3 left, denied 0 left, not checked"
[[nodiscard]] inline std::string text_of(const Answer& answer) {
  std::string text = answer.allowed ? "allowed " : "denied ";
  text += to_string(answer.reason);
  if (answer.strictest) text += " by " + std::to_string(*answer.strictest);
  std::string separator = ": ";
  for (const LimitAnswer& limit : answer.limits) {
    text += std::exchange(separator, ", ");
    if (limit.shadow) text += "shadow ";
    if (limit.local) text += "local ";
    if (!limit.decision) {
      text += "not checked";
      continue;
    }
    if (!limit.decision->allowed()) text += std::string(to_string(limit.decision->outcome())) + " ";
    text += std::to_string(limit.decision->remaining()) + " left";
  }
  return text;
}

}  // namespace penstock::service
