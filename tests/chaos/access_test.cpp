#include "chaos/acl_rules.hpp"
#include "chaos/workers.hpp"
#include "servers/redis_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>

namespace penstock::chaos {
namespace {

using namespace std::chrono_literals;
using servers::RedisServer;
using servers::Session;

std::string url_for(const RedisServer& server, const std::string& login) {
  return "redis://" + login + "@127.0.0.1:" + std::to_string(server.port());
}

// Waits for the error that names the misconfiguration instead of "not connected yet".
Error misconfiguration(SharedLimiter& limiter) {
  Error error;
  servers::wait_until("a misconfiguration", [&] {
    const Result<Decision> said = limiter.check("key", kBucket);
    if (!said) error = said.error();
    return error.code == ErrorCode::Misconfigured;
  });
  return error;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

#define EXPECT_OK(call)                                        \
  do {                                                         \
    const auto said = call;                                    \
    EXPECT_TRUE(said) << #call << ": " << said.error().detail; \
  } while (false)

// Calls every function of SharedLimiter, with states of every algorithm and through every code
// path.
void use_everything(SharedLimiter& limiter) {
  using std::chrono::hours;
  const std::array quotas{Quota(kBucket),
                          Quota(kSmall),
                          Quota(per_minute(50).fixed_window()),
                          Quota(per_minute(50).anchored_window()),
                          Quota(per_minute(50).sliding_log()),
                          Quota(per_minute(50).sliding_counter()),
                          Quota(per_minute(50).sub_windows())};
  std::vector<Limit> named;
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    const std::string key = "everything-" + std::to_string(i);
    for (int n = 0; n < 60; ++n) EXPECT_OK(limiter.check(key, quotas[i]));
    EXPECT_OK(limiter.peek(key, quotas[i]));
    EXPECT_OK(limiter.refund(key, quotas[i]));
    EXPECT_OK(limiter.block(key, hours{1}));
    EXPECT_OK(limiter.check(key, quotas[i]));
    EXPECT_OK(limiter.unblock(key));
    // Changes the algorithm and back.
    EXPECT_OK(limiter.check(key, quotas[(i + 1) % quotas.size()]));
    EXPECT_OK(limiter.check(key, quotas[i]));
    EXPECT_OK(limiter.reset(key));
    named.push_back({.name = "limit-" + std::to_string(i), .quota = quotas[i]});
  }
  // A log that grows for longer than its period has its lifetime renewed in place.
  const Time end = base::deadline_after(150ms);
  servers::wait_until("a log to outlive its period", [&] {
    EXPECT_OK(limiter.check("log", per(1000, 50ms).sliding_log()));
    return base::monotonic_now() >= end;
  });
  const Limits limits = Limits::make(named).value();
  EXPECT_OK(limiter.check("several", limits));
  EXPECT_OK(limiter.peek("several", limits));
  EXPECT_OK(limiter.refund("several", limits));
  EXPECT_OK(limiter.reset("several", limits));
  EXPECT_OK(limiter.check_all({{.key = "one", .quota = kBucket, .cost = {}},
                               {.key = "two", .quota = kWindow, .cost = {}}}));
  SharedCounters counters = limiter.counters();
  EXPECT_OK(counters.add("kept", 5));
  EXPECT_OK(counters.add("kept", 5));
  EXPECT_OK(counters.add("passing", 5, hours{1}));
  EXPECT_OK(counters.add("exact", Decimal::from_nanos(5)));
  EXPECT_OK(counters.get("kept"));
  EXPECT_OK(counters.get_decimal("exact"));
  EXPECT_OK(counters.reset("kept"));
}

TEST(Access, TheDocumentedAclRulesAreEnough) {
  RedisServer server;
  Session admin = server.session();
  admin.must(set_limiter_user(kAclRules));
  SharedLimiter limiter = open_limiter(long_timeout_options(url_for(server, "limiter:sesame")));
  wait_until_works(limiter);
  use_everything(limiter);
  admin.must({"SCRIPT", "FLUSH"});
  use_everything(limiter);
  admin.must({"CLIENT", "KILL", "TYPE", "normal"});
  wait_until_works(limiter);
  EXPECT_EQ(admin.must({"ACL", "LOG"}).elements.size(), 0U) << admin.must({"ACL", "LOG"});
}

TEST(Access, TheAclRulesEqualTheDocumentation) {
  std::ifstream file(std::string(PENSTOCK_SOURCE_DIR) + "/docs/how-to/operations.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("on >password " + std::string(kAclRules) + "\n"), std::string::npos);
}

// Without any one of these rules a command fails.
TEST(Access, EveryAclRuleIsNeeded) {
  RedisServer server;
  Session admin = server.session();
  for (const std::string& rule : words_of(kAclRules)) {
    if (!rule.starts_with('+')) continue;
    admin.must({"FLUSHALL"});
    admin.must({"SCRIPT", "FLUSH"});
    admin.must({"ACL", "LOG", "RESET"});
    std::string others(kAclRules);
    others.replace((" " + others + " ").find(" " + rule + " "), rule.size(), "");
    admin.must(set_limiter_user(others));
    {
      SharedLimiter limiter = open_limiter(long_timeout_options(url_for(server, "limiter:sesame")));
      const Result<Decision> first = limiter.check("key", kBucket);
      testing::TestPartResultArray ignored;
      if (first) {
        const testing::ScopedFakeTestPartResultReporter quiet(
            testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &ignored);
        admin.must({"SCRIPT", "FLUSH"});
        use_everything(limiter);
      }
    }
    // PING is sent only while a circuit breaker is open.
    if (rule == "+ping") continue;
    EXPECT_NE(admin.must({"ACL", "LOG"}).elements.size(), 0U) << rule;
  }
}

TEST(Access, AWrongPasswordIsReportedWithTheServersErrorAndNotShown) {
  RedisServer server({.password = "right"});
  Events events;
  RedisOptions options = long_timeout_options(url_for(server, ":wrong-one"));
  options.on_event = events.listener();
  SharedLimiter limiter = open_limiter(options);
  const Error error = misconfiguration(limiter);
  EXPECT_TRUE(has(error.detail, "WRONGPASS")) << error.detail;
  EXPECT_FALSE(has(error.detail + events.text(), "wrong-one")) << error.detail << events.text();
}

TEST(Access, AMissingPasswordIsReportedWithTheServersError) {
  RedisServer server({.password = "right"});
  SharedLimiter limiter =
      open_limiter(long_timeout_options("redis://127.0.0.1:" + std::to_string(server.port())));
  const Error error = misconfiguration(limiter);
  EXPECT_TRUE(has(error.detail, "NOAUTH")) << error.detail;
}

TEST(Access, AnAclUserAddedLaterWorksWithoutARestart) {
  RedisServer server;
  Events events;
  RedisOptions options = long_timeout_options(url_for(server, "limiter:sesame"));
  options.on_event = events.listener();
  SharedLimiter limiter = open_limiter(options);
  const Error error = misconfiguration(limiter);
  EXPECT_TRUE(has(error.detail, "WRONGPASS")) << error.detail;
  EXPECT_FALSE(has(error.detail + events.text(), "sesame")) << error.detail << events.text();
  Workers workers(limiter, default_questions());
  workers.wait_for_errors(100);
  server.must(set_limiter_user(kAclRules));
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(100);
  const Tally tally = workers.stop();
  report_recovery("ACL SETUSER for a user who was unknown", tally, recovered);
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

TEST(Access, AMissingPermissionIsNamedAndCanBeGrantedLater) {
  RedisServer server;
  std::string rules(kAclRules);
  rules.replace(rules.find("+set "), 5, "");
  server.must(set_limiter_user(rules));
  SharedLimiter limiter = open_limiter(long_timeout_options(url_for(server, "limiter:sesame")));
  const Error error = misconfiguration(limiter);
  EXPECT_TRUE(has(error.detail, "script")) << error.detail;  // the wording depends on the version
  EXPECT_FALSE(has(error.detail, "sesame")) << error.detail;
  Workers workers(limiter, default_questions());
  workers.wait_for_errors(100);
  server.must({"ACL", "SETUSER", "limiter", "+set"});
  const Time recovered = base::monotonic_now();
  workers.wait_for_decisions(100);
  const Tally tally = workers.stop();
  report_recovery("ACL SETUSER for a missing permission", tally, recovered);
  // A script error after the first write would be charged; this one occurs before it.
  expect_consistent(tally, default_questions(), limiter, kLongTimeout);
}

TEST(Access, KeysOutsideThePatternAreRejected) {
  RedisServer server;
  server.must(set_limiter_user(kAclRules));
  RedisOptions options = long_timeout_options(url_for(server, "limiter:sesame"));
  options.key_prefix = "another";
  SharedLimiter limiter = open_limiter(options);
  const Error error = misconfiguration(limiter);
  EXPECT_TRUE(has(error.detail, "NOPERM")) << error.detail;
}

}  // namespace
}  // namespace penstock::chaos
