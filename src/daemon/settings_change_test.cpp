#include "daemon/settings_change.hpp"

#include "reference/option_changes.hpp"
#include "rules/settings/settings_options.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace penstock::daemon {
namespace {

rules::Settings with_store(const std::string& url) {
  rules::Settings settings;
  settings.store_url = settings.redis.url = url;
  return settings;
}

TEST(SettingsChange, TokensPasswordsAndCertificatesNeedNoRestart) {
  rules::Settings old = with_store("redis://user:old@db:7000/1");
  old.gateway.tls = old.http.tls = net::TlsFiles{.certificate = "a.pem", .key = "a.key"};
  old.gateway.listen = old.resp.listen = {{.host = "127.0.0.1", .port = 1}};
  rules::Settings now = with_store("redis://other:new@db:7000/1");
  now.gateway.listen = now.resp.listen = old.resp.listen;
  now.gateway.tls = net::TlsFiles{.certificate = "b.pem", .key = "b.key"};
  now.http.tokens = {{.name = "token", .secret = "new"}, {.name = "token 2", .secret = "old"}};
  now.resp.passwords = {"new"};
  now.shutdown_delay = std::chrono::seconds{1};
  EXPECT_EQ(needs_restart(old, now), "");
  const rules::Settings used = with_reloadable(old, now);
  EXPECT_EQ(used.http.tokens, now.http.tokens);
  EXPECT_EQ(used.resp.passwords, now.resp.passwords);
  EXPECT_EQ(used.http.tls, std::nullopt);
  EXPECT_EQ(used.gateway.tls, now.gateway.tls);
  EXPECT_EQ(used.redis.url, now.redis.url);
  EXPECT_EQ(used.shutdown_delay, now.shutdown_delay);
}

TEST(SettingsChange, AnotherServerNeedsARestart) {
  const rules::Settings old = with_store("redis://:a@db:7000");
  for (const char* url :
       {"redis://:a@other:7000", "memory://", "redis://:a@db:7000/2", "rediss://:a@db:7000"}) {
    EXPECT_EQ(needs_restart(old, with_store(url)), "store.url") << url;
    EXPECT_EQ(with_reloadable(old, with_store(url)).redis.url, "redis://:a@db:7000");
  }
}

TEST(SettingsChange, AListenerWhoseSectionIsGoneKeepsItsSettingsUntilTheRestart) {
  rules::Settings old;
  old.resp.listen = old.grpc.listen = old.gateway.listen = {{.host = "0.0.0.0", .port = 1}};
  old.resp.passwords = {"secret"};
  old.gateway.routes.push_back({.path = "/a"});
  const rules::Settings now;
  EXPECT_EQ(needs_restart(old, now), "grpc.listen, resp.listen, gateway.listen");
  const rules::Settings used = with_reloadable(old, now);
  EXPECT_EQ(used.resp.passwords, old.resp.passwords);
  EXPECT_EQ(used.gateway, old.gateway);
  EXPECT_EQ(used.grpc.listen, old.grpc.listen);
}

TEST(SettingsChange, EveryOptionTakesEffectOrIsNamed) {
  const std::vector<reference::OptionChange> changes = reference::option_changes();
  EXPECT_GT(changes.size(), 100U);
  for (const reference::OptionChange& change : changes) {
    ASSERT_TRUE(change.old.configuration && change.now.configuration) << change.yaml;
    const rules::Settings& old = change.old.configuration->settings;
    const rules::Settings& now = change.now.configuration->settings;
    const std::string named = needs_restart(old, now);
    EXPECT_EQ(named.empty(), !change.needs_restart) << change.name << " " << named;
    const rules::Settings used = with_reloadable(old, now);
    for (const rules::SettingsOption& option : rules::settings_options()) {
      if (option.equal(old, now)) continue;
      EXPECT_NE(option.equal(used, now), named.find(option.name) != std::string::npos)
          << change.name << " " << named;
    }
  }
}

// Each with its reason in the row. A new setting takes effect on reload.
TEST(SettingsChange, OnlyAddressesThreadsAndTheStoreItselfNeedARestart) {
  std::set<std::string> names;
  for (const rules::SettingsOption& option : rules::settings_options()) {
    if (!option.restart_reason.empty()) names.insert(option.name);
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"server.listen", "server.workers", "grpc.listen", "resp.listen",
                                   "gateway.listen", "store.url", "store.key_prefix",
                                   "store.max_keys", "store.max_log_bytes", "store.max_counters"}));
}

}  // namespace
}  // namespace penstock::daemon
