#include "engine/engine.hpp"

#include "base/deadline.hpp"
#include "rules/model/configuration.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

namespace penstock::engine {
namespace {

rules::Configuration load(const std::string& text) {
  return rules::load_text(text, "test.yaml").configuration.value();
}

// A program that embeds the engine: its own event loop, no listener.
class EngineTest : public testing::Test {
 protected:
  std::unique_ptr<Engine> make(std::size_t number) {
    return *Engine::make(loop.get_executor(), shared, configuration.settings, number,
                         configuration.rules);
  }

  // Whether one request of this user is allowed.
  static bool is_allowed(Engine& engine, std::string_view user) {
    std::optional<bool> allowed;
    engine.service().decide(
        {.domain = "api", .descriptors = {{.entries = {{"user", user}}}}, .cost = Cost{1}},
        base::deadline_after(std::chrono::seconds{1}),
        [&](const service::Answer& answer) { allowed = answer.allowed; });
    return allowed.value();
  }

  rules::Configuration configuration =
      load("domains: {api: {rules: [{name: r, key: user, limit: 2/day}]}}");
  std::ostringstream log_text;
  telemetry::Log log{{}, log_text};
  telemetry::Metrics metrics{"test"};
  EngineShared shared{configuration.settings, metrics, log};
  boost::asio::io_context loop{1};
};

TEST_F(EngineTest, DecidesWithoutAListener) {
  const auto engine = make(0);
  engine->start();
  EXPECT_TRUE(is_allowed(*engine, "a"));
  EXPECT_TRUE(is_allowed(*engine, "a"));
  EXPECT_FALSE(is_allowed(*engine, "a"));
  EXPECT_TRUE(is_allowed(*engine, "b"));
  engine->tick();
  EXPECT_NE(metrics.prometheus_text().find("penstock_decisions_total"), std::string::npos);
}

TEST_F(EngineTest, AnEventOfTheStoreIsLoggedOnceForAllEngines) {
  const base::Deadline now = base::monotonic_now();
  const RedisEvent lost{.kind = RedisEvent::Kind::ConnectionLost, .text = "a:1: lost"};
  const RedisEvent closed{.kind = RedisEvent::Kind::BreakerClosed, .text = "a:1: breaker closed"};
  for (int engine = 0; engine < 4; ++engine) shared.store_events.write(lost, now);
  shared.store_events.write(closed, now);
  shared.store_events.write(lost, now + std::chrono::seconds{1});
  const std::string text = log_text.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(text.find("warning store event=\"a:1: lost\""), std::string::npos) << text;
  EXPECT_NE(text.find("info store event=\"a:1: breaker closed\""), std::string::npos) << text;
}

TEST_F(EngineTest, EnginesOfAProcessShareUsage) {
  const auto one = make(0);
  const auto two = make(1);
  EXPECT_TRUE(is_allowed(*one, "a"));
  EXPECT_TRUE(is_allowed(*two, "a"));
  EXPECT_FALSE(is_allowed(*one, "a"));
}

TEST_F(EngineTest, UsesNewRulesAndKeepsUsage) {
  const auto engine = make(0);
  EXPECT_TRUE(is_allowed(*engine, "a"));
  EXPECT_TRUE(is_allowed(*engine, "a"));
  const auto next = load("domains: {api: {rules: [{name: r, key: user, limit: 3/day}]}}");
  engine->use(next.rules);
  EXPECT_TRUE(engine->reload(next.settings));
  EXPECT_TRUE(is_allowed(*engine, "a"));
  EXPECT_FALSE(is_allowed(*engine, "a"));
}

TEST_F(EngineTest, RejectsSettingsOfTheStoreThatCannotBeUsed) {
  configuration.settings.store_url = "redis://";
  configuration.settings.redis.ca_file = "/nonexistent.pem";
  const auto made =
      Engine::make(loop.get_executor(), shared, configuration.settings, 0, configuration.rules);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().detail.starts_with("store: ")) << made.error().detail;
}

TEST_F(EngineTest, ARollOutIsAbortedForAllEnginesUntilTheRuleChanges) {
  const std::string text =
      "domains: {api: {rules: [{name: r, key: user, limit: 1/day fixed_window, enforce: 100%, "
      "abort: {denied_above: 10%, over: 10s, min_requests: 5}}]}}";
  configuration = load(text);
  const auto one = make(0);
  const auto two = make(1);
  for (int i = 0; i < 3; ++i) static_cast<void>(is_allowed(*one, "a"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(is_allowed(*two, "a"));
  one->tick();
  EXPECT_TRUE(shared.rollouts.report().at(0).aborted);
  EXPECT_TRUE(is_allowed(*one, "a"));
  EXPECT_TRUE(is_allowed(*two, "a"));
  EXPECT_NE(log_text.str().find("roll-out aborted"), std::string::npos);
  const auto use = [&](const rules::Configuration& next) {
    shared.use(next.rules);
    for (const auto* const engine : {&one, &two}) (*engine)->use(next.rules);
  };
  use(load(text));
  EXPECT_TRUE(is_allowed(*one, "a")) << "the rule is the same";
  std::string changed = text;
  changed.replace(changed.find("10%"), 3, "11%");
  use(load(changed));
  EXPECT_FALSE(is_allowed(*one, "a"));
  EXPECT_FALSE(is_allowed(*two, "a"));
}

TEST_F(EngineTest, EndsAtOnceWithoutLeases) {
  const auto engine = make(0);
  bool done = false;
  engine->shutdown([&] { done = true; });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace penstock::engine
