#include "service/overrides.hpp"

#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "service_harness/test_service.hpp"
#include "store/memory_store.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::service {
namespace {

using namespace std::chrono_literals;
using Effect = store::Override::Effect;

constexpr std::string_view kOverriddenRules = R"(
domains:
  api:
    rules:
      - {name: search, key: [user], limit: 2/day, algorithm: fixed_window}
  two:
    rules:
      - name: login
        key: [client_ip]
        limits: {minute: 5/m, hour: 20/h burst 10}
  all:
    rules:
      - {name: total, limit: 3/day}
      - {name: free, when: {path: /free}, unlimited: true}
  leased:
    rules:
      - {name: search, key: [user], mode: lease, limit: 100/m}
)";

std::shared_ptr<const rules::Ruleset> load_overridden(std::string_view text = kOverriddenRules) {
  const rules::Loaded loaded = rules::load_text(text, "test.yaml");
  for (const auto& diagnostic : loaded.diagnostics) {
    if (diagnostic.severity == rules::Diagnostic::Severity::Error) {
      ADD_FAILURE() << to_string(diagnostic);
    }
  }
  return loaded.configuration.value().rules;
}

// A service on the memory store in virtual time.
struct OverridesTest : ::testing::Test {
  ManualClock clock;
  store::ShardedTable memory{{.clock = &clock}};
  store::MemoryStore store{memory};
  Membership members{1};
  LocalFallback local{memory, members};
  TestEvents events;
  LiveOverrides live;
  Service service{{.stores = store.stores(),
                   .local = local,
                   .events = events,
                   .clock = &clock,
                   .overrides = &live},
                  load_overridden()};

  Result<store::Override> set(store::Override wanted, Duration lasts = 1h) {
    std::optional<Result<store::Override>> made;
    service.set_override(std::move(wanted), lasts, {}, [&](auto said) { made = std::move(said); });
    return made.value();
  }
  // "" for one that is accepted.
  std::string error_of(store::Override wanted) {
    const Result<store::Override> made = set(std::move(wanted));
    return made ? "" : made.error().detail;
  }
  bool remove(const std::string& rule, const std::string& subject = {}) {
    bool removed = false;
    service.remove_override({.rule = rule, .subject = subject}, {},
                            [&](const auto& before) { removed = before && before->has_value(); });
    return removed;
  }
  Answer decide(std::string_view domain, std::string_view name, std::string_view value) {
    std::optional<Answer> answer;
    const rules::Request request{.domain = domain,
                                 .descriptors = {{.entries = {{.name = name, .value = value}}}}};
    service.decide(request, {}, [&](Answer said) { answer = std::move(said); });
    return answer.value();
  }
  std::string quotas(std::string_view domain, std::string_view name, std::string_view value) {
    std::string text;
    for (const LimitAnswer& limit : decide(domain, name, value).limits) {
      text += (text.empty() ? "" : ", ") + to_string(limit.matched.check.quota);
    }
    return text;
  }
};

store::Override search_limit(std::string subject, std::string quota) {
  return {.rule = "api/search",
          .subject = std::move(subject),
          .effect = Effect::Limit,
          .value = std::move(quota)};
}

TEST_F(OverridesTest, ChangesTheLimitOfOneSubjectAndKeepsItsUsage) {
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(decide("api", "user", "42").allowed);
  EXPECT_FALSE(decide("api", "user", "42").allowed);
  ASSERT_TRUE(set(search_limit("user=42", "5/day")));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(decide("api", "user", "42").allowed);
  EXPECT_FALSE(decide("api", "user", "42").allowed);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(decide("api", "user", "7").allowed);
  EXPECT_FALSE(decide("api", "user", "7").allowed) << "another subject";
  ASSERT_TRUE(remove("api/search", "user=42"));
  EXPECT_FALSE(remove("api/search", "user=42"));
  EXPECT_EQ(quotas("api", "user", "42"), "2/d fixed_window");
}

TEST_F(OverridesTest, EndsAtItsExpiryWithoutAMessage) {
  ASSERT_TRUE(set(search_limit("", "100/day"), 1h));
  clock.advance(1h - 1us);
  EXPECT_EQ(quotas("api", "user", "42"), "100/d fixed_window");
  EXPECT_EQ(live.count(clock.now()), 1U);
  clock.advance(1us);
  EXPECT_EQ(quotas("api", "user", "42"), "2/d fixed_window");
  EXPECT_EQ(live.count(clock.now()), 0U);
}

TEST_F(OverridesTest, KeepsTheAlgorithmOfTheRuleUnlessTheTextNamesOne) {
  ASSERT_TRUE(set(search_limit("", "5/m")));
  EXPECT_EQ(quotas("api", "user", "42"), "5/m fixed_window");
  ASSERT_TRUE(set(search_limit("", "5/m gcra burst 3")));
  EXPECT_EQ(quotas("api", "user", "42"), "5/m burst 3 gcra");
}

TEST_F(OverridesTest, MultipliesExactlyAndRoundsDownToOneAtLeast) {
  ASSERT_TRUE(set({.rule = "two/login", .effect = Effect::Multiply, .value = "1.5"}));
  EXPECT_EQ(quotas("two", "client_ip", "192.0.2.1"), "7/m, 30/h burst 15");
  ASSERT_TRUE(set({.rule = "two/login", .effect = Effect::Multiply, .value = "0.01"}));
  EXPECT_EQ(quotas("two", "client_ip", "192.0.2.1"), "1/m, 1/h");
}

TEST_F(OverridesTest, AppliesToOneLimitOfSeveral) {
  ASSERT_TRUE(set({.rule = "two/login", .effect = Effect::Multiply, .value = "2"}));
  ASSERT_TRUE(set({.rule = "two/login/hour", .effect = Effect::Limit, .value = "99/h"}));
  EXPECT_EQ(quotas("two", "client_ip", "192.0.2.1"), "10/m, 99/h") << "the most specific counts";
  ASSERT_TRUE(set({.rule = "two/login",
                   .subject = "client_ip=192.0.2.1",
                   .effect = Effect::Multiply,
                   .value = "3"}));
  EXPECT_EQ(quotas("two", "client_ip", "192.0.2.1"), "15/m, 60/h burst 30");
  EXPECT_EQ(quotas("two", "client_ip", "192.0.2.2"), "10/m, 99/h");
}

TEST_F(OverridesTest, ShadowDoesNotEnforce) {
  ASSERT_TRUE(set({.rule = "all/total", .subject = "(all)"}));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(decide("all", "path", "/x").allowed);
  const Answer answer = decide("all", "path", "/x");
  EXPECT_TRUE(answer.allowed);
  EXPECT_TRUE(answer.limits.front().shadow);
  EXPECT_FALSE(answer.limits.front().decision->allowed());
  EXPECT_EQ(answer.limits.front().overridden_by->effect, Effect::Shadow);
  ASSERT_TRUE(remove("all/total"));
  EXPECT_FALSE(decide("all", "path", "/x").allowed);
}

TEST_F(OverridesTest, ShadowOfARuleAlsoStopsDenialsForAMissingKey) {
  service.use(load_overridden(R"(
domains:
  api:
    rules:
      - {name: a, key: [user], limit: 2/day, if_missing: deny}
      - {name: b, key: [tenant], limits: {minute: 2/m, day: 9/day}, if_missing: deny}
      - {name: c, limit: 9/day}
)"));
  const auto reason = [&] { return decide("api", "path", "/").reason; };
  ASSERT_TRUE(set({.rule = "api/a", .subject = "user=1"}));
  ASSERT_TRUE(set({.rule = "api/b"}));
  EXPECT_EQ(reason(), Reason::MissingAttribute) << "of a";
  ASSERT_TRUE(set({.rule = "api/a"}, 1min));
  EXPECT_EQ(reason(), Reason::WithinLimits);
  EXPECT_EQ(decide("api", "path", "/").limits.size(), 1U) << "of c";
  std::optional<Service::Explained> explained;
  service.explain({.domain = "api", .descriptors = {{}}}, {},
                  [&](auto said) { explained = std::move(said); });
  EXPECT_TRUE(explained->answer.allowed);
  EXPECT_EQ(explained->explanation.rules.at(0).reason, "user is absent, which this rule counts by");
  ASSERT_TRUE(remove("api/b"));
  ASSERT_TRUE(set({.rule = "api/b/day"}));
  EXPECT_EQ(reason(), Reason::MissingAttribute) << "one limit of b is not all of it";
  ASSERT_TRUE(set({.rule = "api/b"}));
  EXPECT_EQ(reason(), Reason::WithinLimits);
  clock.advance(1min);
  EXPECT_EQ(reason(), Reason::MissingAttribute) << "the override of a has expired";
}

TEST_F(OverridesTest, ALimitOfZeroDeniesEverything) {
  ASSERT_TRUE(set(search_limit("user=42", "0/m")));
  const Answer answer = decide("api", "user", "42");
  EXPECT_FALSE(answer.allowed);
  ASSERT_TRUE(set({.rule = "api/search",
                   .subject = "user=42",
                   .effect = Effect::Multiply,
                   .value = "0.000000001"}));
  EXPECT_EQ(quotas("api", "user", "42"), "1/d fixed_window") << "a factor never makes it 0";
}

// Otherwise a block during the override would end with it.
TEST_F(OverridesTest, ALimitOfZeroIsBlockedAndResetWithTheOthers) {
  service.use(load_overridden(R"(
domains:
  api:
    rules:
      - {name: search, key: [user], limit: 2/day, algorithm: fixed_window}
      - {name: other, key: [user], limit: 9/m}
)"));
  const auto names = [&](const Result<Answer>& limits) {
    std::string text;
    for (const LimitAnswer& limit : limits->limits) text += limit.matched.check.name.limit + " ";
    return text;
  };
  ASSERT_TRUE(set(search_limit("user=42", "0/m")));
  EXPECT_EQ(names(service.limits_of_rule("api", "search", "user=42")), "api/search ");
  EXPECT_EQ(names(service.limits_of_domain("api", "user=42")), "api/search api/other ");
}

TEST_F(OverridesTest, IsPartOfPeeksAndReservations) {
  ASSERT_TRUE(set(search_limit("user=42", "9/day")));
  const Result<Answer> limits = service.limits_of_rule("api", "search", "user=42");
  ASSERT_TRUE(limits);
  EXPECT_EQ(to_string(limits->limits.front().matched.check.quota), "9/d fixed_window");
  EXPECT_EQ(service.limits_of_domain("api", "user=42")->limits.front().overridden_by->value,
            "9/day");
  std::optional<bool> reserved;
  const rules::Request request{.domain = "api",
                               .descriptors = {{.entries = {{.name = "user", .value = "42"}}}}};
  service.reserve(request, {.id = "r", .estimate = 9, .lasts = 1min}, {},
                  [&](const auto& said) { reserved = said && said->answer.allowed; });
  EXPECT_TRUE(reserved.value());
  std::optional<Service::Explained> explained;
  service.explain(request, {}, [&](auto said) { explained = std::move(said); });
  EXPECT_EQ(explained->answer.limits.front().overridden_by->subject, "user=42");
}

TEST_F(OverridesTest, SubjectsAreCanonical) {
  service.use(load_overridden(
      "domains: {api: {rules: [{name: two, key: [user, client_ip], ipv4_prefix: 24, limit: 5/m}]}}"));
  ASSERT_EQ(error_of({.rule = "api/two",
                      .subject = "client_ip=192.0.2.9&user=a<b",
                      .effect = Effect::Limit,
                      .value = "7/m"}),
            "");
  EXPECT_EQ(live.list()->front()->subject, "user=a<b&client_ip=192.0.2.0");
}

TEST_F(OverridesTest, SubjectsAreCanonicalAgainAfterAReload) {
  const auto use_key = [&](const std::string& key) {
    service.use(load_overridden("domains: {api: {rules: [{name: r, key: [" + key +
                                "], ipv4_prefix: 24, limit: 5/m}]}}"));
  };
  const auto quota = [&] {
    std::optional<Answer> answer;
    service.decide({.domain = "api",
                    .descriptors = {{.entries = {{"user", "a"}, {"client_ip", "192.0.2.9"}}}}},
                   {}, [&](Answer said) { answer = std::move(said); });
    return to_string(answer->limits.front().matched.check.quota);
  };
  use_key("user, client_ip");
  ASSERT_TRUE(set({.rule = "api/r",
                   .subject = "user=a&client_ip=192.0.2.9",
                   .effect = Effect::Limit,
                   .value = "7/m"}));
  EXPECT_EQ(quota(), "7/m");
  use_key("client_ip, user");
  EXPECT_EQ(quota(), "7/m");
  EXPECT_FALSE(remove("api/r", "client_ip=192.0.2.9&user=b"));
  EXPECT_TRUE(remove("api/r", "user=a&client_ip=192.0.2.0")) << "as it is listed";
  EXPECT_EQ(quota(), "5/m");
  ASSERT_TRUE(set({.rule = "api/r", .subject = "user=a&client_ip=192.0.2.9"}));
  EXPECT_TRUE(remove("api/r", "user=a&client_ip=192.0.2.9")) << "in any order";
}

TEST_F(OverridesTest, ErrorsNameTheValue) {
  EXPECT_EQ(error_of({.rule = "search"}),
            "rule: \"search\" must be a domain and a rule, as in api/search");
  EXPECT_EQ(error_of({.rule = "api/none"}), "rule: \"api/none\" is not loaded");
  EXPECT_EQ(error_of({.rule = "two/login/day"}), "rule: \"two/login/day\" is not loaded");
  EXPECT_EQ(error_of({.rule = "all/free"}), "rule: \"all/free\" sets no limit");
  EXPECT_EQ(error_of({.rule = "api/search", .subject = "42"}),
            "subject: \"42\" is no key of rule \"api/search\"; expected \"user=...\"");
  EXPECT_EQ(error_of({.rule = "all/total", .subject = "user=1"}),
            "subject: \"user=1\" is no key of rule \"all/total\"; the rule counts all requests "
            "together, and has no subject");
  EXPECT_EQ(error_of({.rule = "two/login", .effect = Effect::Limit, .value = "5/m"}),
            "limit: rule \"two/login\" has several limits; name one of them, as in "
            "two/login/minute");
  EXPECT_NE(error_of(search_limit("", "many")).find("\"many\""), std::string::npos);
  EXPECT_NE(error_of(search_limit("", "5/m burst 9")).find("burst 9 has no meaning"),
            std::string::npos);
  for (const char* factor : {"0", "-1", "1000001", "x", "1/2"}) {
    const std::string error =
        error_of({.rule = "api/search", .effect = Effect::Multiply, .value = factor});
    EXPECT_EQ(error.find("multiply: \"" + std::string(factor) + "\""), 0U) << error;
  }
  EXPECT_NE(error_of({.rule = "api/search", .effect = Effect::Multiply, .value = "1000000"}), "x");
  EXPECT_EQ(
      error_of({.rule = "leased/search", .effect = Effect::Limit, .value = "5/m sliding_log"}),
      "limit: \"5/m sliding_log\" is counted by sliding_log, which mode: lease of the rule "
      "cannot keep");
}

TEST_F(OverridesTest, SurvivesAReloadAndHasNoEffectWithoutItsRule) {
  ASSERT_TRUE(set(search_limit("", "9/day")));
  service.use(load_overridden("domains: {api: {rules: [{name: other, key: [user], limit: 1/m}]}}"));
  EXPECT_EQ(quotas("api", "user", "42"), "1/m");
  service.use(load_overridden());
  EXPECT_EQ(quotas("api", "user", "42"), "9/d fixed_window");
}

TEST_F(OverridesTest, OneKeyUnderTwoQuotasBecomesOneCheck) {
  service.use(load_overridden(R"(
maps: {plans: {values: {pro: 100/h}}}
domains:
  api: {rules: [{name: r, key: [user], limit: 10/h, overrides: {map: plans, by: plan}}]}
)"));
  const auto both = [&] {
    std::optional<Answer> answer;
    const rules::Request request{
        .domain = "api",
        .descriptors = {{.entries = {{.name = "user", .value = "a"}, {"plan", "pro"}}},
                        {.entries = {{.name = "user", .value = "a"}}}}};
    service.decide(request, {}, [&](Answer said) { answer = std::move(said); });
    return answer.value();
  };
  EXPECT_EQ(both().limits.size(), 2U);
  ASSERT_TRUE(set({.rule = "api/r", .effect = Effect::Limit, .value = "50/h"}));
  const Answer answer = both();
  ASSERT_EQ(answer.limits.size(), 1U);
  EXPECT_EQ(answer.limits.front().matched.check.cost.units, 2U);
  EXPECT_EQ(answer.limits.front().decision->remaining(), 46U);
}

TEST(LiveOverrides, IgnoresAListThatWasReadEarlier) {
  LiveOverrides live;
  const std::uint64_t first = live.begin_read();
  const std::uint64_t second = live.begin_read();
  live.publish(second, {.version = 2, .overrides = {{{.rule = "api/new"}}}});
  live.publish(first, {.version = 1, .overrides = {{{.rule = "api/old"}}}});
  EXPECT_EQ(live.list()->front()->rule, "api/new");
  EXPECT_EQ(live.version(), 2U);
  const std::uint64_t generation = live.generation();
  live.publish(live.begin_read(), {.version = 2});
  EXPECT_EQ(live.generation(), generation) << "nothing changed";
}

// A failed read keeps those last read.
TEST_F(OverridesTest, StayInForceWhileTheStoreIsDown) {
  ASSERT_TRUE(set(search_limit("", "9/day"), 1h));
  TestStore down;
  struct Down final : store::OperatorStore {
    void set_override(store::Override, Duration, base::Deadline,
                      store::Answered<store::Override> answered) override {
      answered(Error{ErrorCode::Unavailable, "down"});
    }
    void remove_override(store::Override, base::Deadline,
                         store::Answered<std::optional<store::Override>> answered) override {
      answered(Error{ErrorCode::Unavailable, "down"});
    }
    void list_overrides(std::uint64_t, base::Deadline,
                        store::Answered<store::OverrideList> answered) override {
      answered(Error{ErrorCode::Unavailable, "down"});
    }
    void append_action(store::OperatorAction, Duration, base::Deadline,
                       store::Answered<bool> answered) override {
      answered(Error{ErrorCode::Unavailable, "down"});
    }
    void list_actions(std::size_t, base::Deadline,
                      store::Answered<std::vector<store::OperatorAction>> answered) override {
      answered(Error{ErrorCode::Unavailable, "down"});
    }
  } operators;
  Service other({.stores = {.limits = store,
                            .counters = store,
                            .permits = store,
                            .reservations = store,
                            .operators = operators},
                 .local = local,
                 .events = events,
                 .clock = &clock,
                 .overrides = &live},
                load_overridden());
  other.refresh_overrides(base::Deadline::max(),
                          [](const Result<void>& read) { EXPECT_FALSE(read); });
  const auto quota = [&] {
    return to_string(
        other.limits_of_rule("api", "search", "user=1")->limits.front().matched.check.quota);
  };
  EXPECT_EQ(quota(), "9/d fixed_window");
  std::optional<Error> failure;
  other.set_override(search_limit("", "1/day"), 1h, {},
                     [&](const auto& said) { failure = said.error(); });
  EXPECT_EQ(failure->code, ErrorCode::Unavailable);
  clock.advance(1h);
  EXPECT_EQ(quota(), "2/d fixed_window");
}

}  // namespace
}  // namespace penstock::service
