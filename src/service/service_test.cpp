#include "service/service.hpp"

#include "rules/model/configuration.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

constexpr std::string_view kRules = R"(
domains:
  api:
    rules:
      - name: search
        when: {path: /search/**}
        key: [user]
        limit: 2/day
        algorithm: fixed_window
      - name: everyone
        limit: 100/day
        algorithm: fixed_window
        on_failure: closed
  other:
    rules:
      - name: nothing
        when: {path: /never}
        limit: 1/day
)";

std::shared_ptr<const rules::Ruleset> load(std::string_view text) {
  const rules::Loaded loaded = rules::load_text(text, "test.yaml");
  for (const auto& diagnostic : loaded.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  return loaded.configuration.value().rules;
}

rules::Request request(std::string_view domain, std::string_view path, std::string_view user) {
  return {.domain = domain,
          .descriptors = {
              {.entries = {{.name = "path", .value = path}, {.name = "user", .value = user}}}}};
}

struct WithRules : ::testing::Test {
  Answer decide(const rules::Request& asked) {
    std::optional<Answer> answer;
    service.decide(asked, {}, [&](Answer said) { answer = std::move(said); });
    return *answer;
  }
  Service::Explained explain(const rules::Request& asked) {
    std::optional<Service::Explained> explained;
    service.explain(asked, {}, [&](Service::Explained said) { explained = std::move(said); });
    return *explained;
  }
  TestService parts;
  Service service{parts.store.stores(), parts.local, parts.events, load(kRules)};
};

TEST_F(WithRules, RequestsAreDecidedByTheLimitsThatApply) {
  struct Row {
    rules::Request request;
    std::string answer;
  };
  const std::vector<Row> rows{
      {request("api", "/search/x", "alice"), "allowed within_limits by 0: 1 left, 99 left"},
      {request("api", "/search/y", "alice"), "allowed within_limits by 0: 0 left, 98 left"},
      {request("api", "/search/y", "alice"), "denied over_limit by 0: denied 0 left, 98 left"},
      {request("api", "/search/y", "bob"), "allowed within_limits by 0: 1 left, 97 left"},
      {request("api", "/else", "alice"), "allowed within_limits by 0: 96 left"},
      {request("other", "/else", "alice"), "allowed no_rule"},
      {request("unknown", "/else", "alice"), "allowed no_rule"},
  };
  for (const Row& row : rows) EXPECT_EQ(text_of(decide(row.request)), row.answer);
  EXPECT_EQ(parts.events.domains,
            (std::vector<std::string>{"api", "api", "api", "api", "api", "other", ""}));
}

TEST_F(WithRules, UnknownDomainsAreReportedAndDeniedWhereTheRulesSaySo) {
  EXPECT_EQ(text_of(decide(request("apj", "/else", "alice"))), "allowed no_rule");
  service.use(load("unknown_domain: deny\ndomains: {api: {rules: [{name: new, limit: 1/day}]}}"));
  EXPECT_EQ(text_of(decide(request("apj", "/else", "alice"))), "denied unknown_domain");
  EXPECT_EQ(text_of(explain(request("apj", "/else", "alice")).answer), "denied unknown_domain");
  EXPECT_TRUE(decide(request("api", "/else", "alice")).allowed);
  EXPECT_EQ(parts.events.unknown_domains, (std::vector<std::string>{"apj", "apj"}));
}

TEST_F(WithRules, ARequestWithoutAKeyAttributeIsDeniedWithoutTheStore) {
  service.use(load(R"(
domains:
  api:
    rules:
      - {name: keyed, key: [user_id], limit: 1/day, if_missing: deny}
      - {name: everyone, limit: 1/day}
)"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(decide(request("api", "/x", "alice"))), "denied missing_attribute");
  }
  EXPECT_EQ(text_of(explain(request("api", "/x", "alice")).answer), "denied missing_attribute");
  EXPECT_EQ(parts.events.calls, 0);
}

TEST_F(WithRules, AnswersKeepTheRulesThatTheyPointInto) {
  const Answer answer = decide(request("api", "/search/x", "alice"));
  service.use(load("domains: {api: {rules: [{name: new, limit: 1/day}]}}"));
  ASSERT_NE(answer.rules, nullptr);
  EXPECT_EQ(answer.limits.at(0).matched.rule->name, "search");
  EXPECT_TRUE(answer.match.limits.empty());
  EXPECT_EQ(decide(request("api", "/search/x", "alice")).limits.at(0).matched.rule->name, "new");
}

TEST_F(WithRules, RequestsInFlightKeepTheirRules) {
  parts.store.is_late = true;
  std::optional<Answer> answer;
  service.decide(request("api", "/search/x", "alice"), {},
                 [&](Answer said) { answer = std::move(said); });
  service.use(load("domains: {api: {rules: [{name: new, limit: 1/day}]}}"));
  parts.store.answer_late();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->limits.at(0).matched.rule->name, "search");
}

TEST_F(WithRules, ExplainChargesNothing) {
  EXPECT_TRUE(decide(request("api", "/search/x", "alice")).allowed);
  rules::Request asked = request("api", "/search/x", "alice");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(explain(asked).answer), "allowed within_limits by 0: 1 left, 99 left");
  }
  asked.cost = Cost{2};
  EXPECT_EQ(text_of(explain(asked).answer), "denied over_limit by 0: denied 1 left, 99 left");
  asked.cost = Cost{3};
  EXPECT_EQ(text_of(explain(asked).answer), "denied over_limit by 0: never_fits 1 left, 99 left");
  EXPECT_EQ(explain(asked).explanation.rules.size(), 2U);
  EXPECT_TRUE(parts.events.answers.size() == 1) << "looking is no event";
}

struct Take : WithRules {
  std::string take(rules::OnFailure on_failure) {
    std::optional<Answer> answer;
    service.take({.name = {.subject = "k", .limit = {}}, .quota = per_day(4).fixed_window()},
                 on_failure, {}, [&](Answer said) { answer = std::move(said); });
    return text_of(*answer);
  }
};

TEST_F(Take, IsARequestLikeAnyOther) {
  EXPECT_EQ(take(rules::OnFailure::Closed), "allowed within_limits by 0: 3 left");
  for (int i = 0; i < 3; ++i) static_cast<void>(take(rules::OnFailure::Closed));
  EXPECT_EQ(take(rules::OnFailure::Closed), "denied over_limit by 0: denied 0 left");
  EXPECT_EQ(parts.events.domains, (std::vector<std::string>(5, "take")));
  EXPECT_EQ(parts.events.answers.back().limits.at(0).matched.metric, "take");
}

// The same requests to both have the same decisions and events.
TEST_F(Take, InlineTakeEqualsTake) {
  struct Fast final {
    store::ShardedTable memory{{}};
    store::MemoryStore store{memory};
  } fast;
  TestEvents events;
  Service at_once(fast.store.stores(), parts.local, events, service.rules());
  const Quota quota = per_day(4).fixed_window();
  for (const std::uint64_t cost : {1U, 2U, 2U, 0U, 5U, 1U, 1U}) {
    std::optional<Answer> answer;
    service.take({.name = {.subject = "k", .limit = {}}, .quota = quota, .cost = {cost}},
                 rules::OnFailure::Closed, {}, [&](Answer said) { answer = std::move(said); });
    const std::optional<Decision> decision = at_once.try_take("k", quota, Cost{cost});
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->outcome(), answer->limits.at(0).decision->outcome()) << cost;
    EXPECT_EQ(decision->remaining(), answer->limits.at(0).decision->remaining()) << cost;
    EXPECT_EQ(text_of(events.answers.back()), text_of(parts.events.answers.back())) << cost;
  }
  EXPECT_EQ(events.domains, parts.events.domains);
  // the other store takes a call
  EXPECT_FALSE(service.try_take("k", quota, Cost{1}));
  EXPECT_EQ(parts.events.answers.size(), 7U);
}

TEST_F(Take, HasItsOwnFailurePolicy) {
  parts.store.failure = Error{ErrorCode::Unavailable, "down"};
  EXPECT_EQ(take(rules::OnFailure::Closed), "denied failed_closed: not checked");
  EXPECT_EQ(take(rules::OnFailure::Open), "allowed failed_open: not checked");
  // one of four nodes has a quarter of it
  EXPECT_EQ(take(rules::OnFailure::Local), "allowed decided_locally by 0: local 0 left");
  EXPECT_EQ(take(rules::OnFailure::Local), "denied decided_locally by 0: local denied 0 left");
}

TEST_F(WithRules, FailuresFollowTheRules) {
  parts.store.failure = Error{ErrorCode::Unavailable, "down"};
  EXPECT_EQ(text_of(decide(request("api", "/search/x", "alice"))),
            "denied failed_closed: not checked, not checked");
  EXPECT_FALSE(explain(request("api", "/search/x", "alice")).answer.allowed);
}

}  // namespace
}  // namespace penstock::service
