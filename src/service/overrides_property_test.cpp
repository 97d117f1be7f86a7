#include "reference/quota_history.hpp"
#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "service_harness/test_service.hpp"
#include "store/memory_store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

// The promise for one key under several quotas, through overrides that are set, changed and removed
// between any two requests.
namespace penstock::service {
namespace {

using Key = reference::TwoKeys::Key;
using reference::QuotaHistory;

// Two users of one rule. The quota of a check is that of the rule, or that of an override.
class OverriddenKeys final : public reference::TwoKeys {
 public:
  explicit OverriddenKeys(const Quota& configured) : configured_(configured) {
    service_.use(rules::load_text("domains: {api: {rules: [{name: r, key: [user], limit: '" +
                                      to_string(configured) + "'}]}}",
                                  "test.yaml")
                     .configuration.value()
                     .rules);
  }

  void set_clock(Instant now) override { clock_.set(now); }
  Decision check(Key key, const Quota& quota, Cost cost) override {
    use(key, quota);
    std::optional<Answer> answer;
    const rules::Request request{
        .domain = "api",
        .descriptors = {{.entries = {{.name = "user", .value = user_of(key)}}}},
        .cost = cost};
    service_.decide(request, {}, [&](Answer said) { answer = std::move(said); });
    RC_ASSERT(answer->limits.front().matched.check.quota == quota);
    return answer->limits.front().decision.value();
  }
  std::vector<Decision> peek(Key key, std::span<const Quota> quotas) override {
    std::vector<Decision> decisions;
    for (const Quota& quota : quotas) {
      decisions.push_back(memory_.check({.name = name_of(key), .quota = quota, .cost = Cost{0}}));
    }
    return decisions;
  }
  void refund(Key key, const Quota& quota, Cost cost) override {
    store_.refund({{.name = name_of(key), .quota = quota, .cost = cost}}, {}, [](const auto&) {});
  }
  void reset(Key key) override { memory_.reset(name_of(key)); }
  void block(Key key, Duration duration) override { memory_.block(name_of(key), duration); }

 private:
  static const char* user_of(Key key) { return key == Key::Asked ? "asked" : "twin"; }
  static core::LimitKey name_of(Key key) {
    return {.subject = std::string("user=") + user_of(key), .limit = "api/r"};
  }
  void use(Key key, const Quota& quota) {
    store::Override wanted{.rule = "api/r",
                           .subject = name_of(key).subject,
                           .effect = store::Override::Effect::Limit,
                           .value = to_string(quota)};
    // the default algorithm, which is not written, is otherwise that of the rule
    if (quota.algorithm() == Algorithm::TokenBucket) wanted.value += " token_bucket";
    if (quota == configured_) {
      service_.remove_override(wanted, {}, [](const auto& said) { RC_ASSERT(said.has_value()); });
    } else {
      service_.set_override(wanted, std::chrono::hours{1}, {}, [](const auto& said) {
        if (!said) RC_FAIL(said.error().detail);
      });
    }
  }

  Quota configured_;
  ManualClock clock_;
  store::ShardedTable memory_{{.max_keys = 100, .clock = &clock_}};
  store::MemoryStore store_{memory_};
  Membership members_{1};
  LocalFallback local_{memory_, members_};
  TestEvents events_;
  LiveOverrides live_;
  Service service_{{.stores = store_.stores(),
                    .local = local_,
                    .events = events_,
                    .clock = &clock_,
                    .overrides = &live_},
                   rules::load_text("domains: {}", "test.yaml").configuration.value().rules};
};

std::vector<Quota> quotas_of(const std::vector<std::string>& algorithms) {
  constexpr std::array kRates{"6/10s", "13/7s", "3/20s", "40/s"};
  std::vector<Quota> quotas;
  for (std::size_t i = 0; i < kRates.size(); ++i) {
    const std::string& algorithm = algorithms[i % algorithms.size()];
    quotas.push_back(Quota::parse(std::string(kRates.at(i)) + " " + algorithm).value());
  }
  return quotas;
}

void expect_overrides_keep_the_promise(const std::vector<std::string>& algorithms,
                                       QuotaHistory::Refunds refunds) {
  const bool holds = rc::check([&] {
    const std::vector<Quota> quotas = quotas_of(algorithms);
    OverriddenKeys keys(quotas.front());
    const Instant start{Days{20'000}};
    QuotaHistory history(keys, quotas, start, start + Days{300}, refunds);
    const auto draws = *rc::gen::container<std::vector<std::uint64_t>>(
        60, rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
    for (const std::uint64_t draw : draws) {
      const std::string problem = history.step(draw);
      if (!problem.empty()) RC_FAIL(problem);
    }
    if (refunds == QuotaHistory::Refunds::Some) return;
    const std::string problem = history.envelope();
    if (!problem.empty()) RC_FAIL(problem);
  });
  EXPECT_TRUE(holds);
}

TEST(OverridesOfOneKey, AdmitExactlyWhatFitsNextToAllUsage) {
  for (const char* algorithm : {"token_bucket", "gcra", "fixed_window", "anchored_window",
                                "sliding_log", "sliding_counter", "sub_windows"}) {
    SCOPED_TRACE(algorithm);
    expect_overrides_keep_the_promise({algorithm}, QuotaHistory::Refunds::Some);
    expect_overrides_keep_the_promise({algorithm}, QuotaHistory::Refunds::None);
  }
}

TEST(OverridesOfOneKey, OfDifferentAlgorithmsStayWithinTheLoosestEnvelope) {
  expect_overrides_keep_the_promise({"token_bucket", "gcra"}, QuotaHistory::Refunds::None);
  expect_overrides_keep_the_promise({"fixed_window", "sliding_log", "anchored_window"},
                                    QuotaHistory::Refunds::None);
}

}  // namespace
}  // namespace penstock::service
