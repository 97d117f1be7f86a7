#include "daemon/settings_change.hpp"

#include "reference/option_changes.hpp"
#include "rules/settings/settings_options.hpp"

#include <gtest/gtest.h>

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
  rules::Settings now = with_store("redis://other:new@db:7000/1");
  now.gateway.tls = now.http.tls = net::TlsFiles{.certificate = "b.pem", .key = "b.key"};
  now.http.tokens = {"new", "old"};
  now.resp.passwords = {"new"};
  now.shutdown_delay = std::chrono::seconds{1};
  EXPECT_EQ(needs_restart(old, now), "");
  apply_reloadable(old, now);
  EXPECT_EQ(old.http.tokens, now.http.tokens);
  EXPECT_EQ(old.resp.passwords, now.resp.passwords);
  EXPECT_EQ(old.http.tls, now.http.tls);
  EXPECT_EQ(old.gateway.tls, now.gateway.tls);
  EXPECT_EQ(old.redis.url, now.redis.url);
  EXPECT_EQ(old.shutdown_delay, now.shutdown_delay);
}

TEST(SettingsChange, AnotherServerAndTlsItselfNeedARestart) {
  rules::Settings old = with_store("redis://:a@db:7000");
  rules::Settings now = with_store("redis://:a@other:7000");
  now.http.tls = net::TlsFiles{.certificate = "a.pem", .key = "a.key"};
  EXPECT_EQ(needs_restart(old, now), "server.tls, store.url");
  apply_reloadable(old, now);
  EXPECT_EQ(old.redis.url, "redis://:a@db:7000");
  for (const char* url : {"memory://", "redis://:a@db:7000/2", "rediss://:a@db:7000"}) {
    EXPECT_EQ(needs_restart(old, with_store(url)), "store.url") << url;
  }
}

TEST(SettingsChange, EveryOptionTakesEffectOrIsNamed) {
  const std::vector<reference::OptionChange> changes = reference::option_changes();
  EXPECT_GT(changes.size(), 90U);
  for (const reference::OptionChange& change : changes) {
    ASSERT_TRUE(change.old.configuration && change.now.configuration) << change.yaml;
    const rules::Settings& old = change.old.configuration->settings;
    const rules::Settings& now = change.now.configuration->settings;
    const std::string named = needs_restart(old, now);
    EXPECT_EQ(named.empty(), change.takes_effect == rules::TakesEffect::OnReload)
        << change.name << " " << named;
    rules::Settings in_force = old;
    apply_reloadable(in_force, now);
    for (const rules::SettingsOption& option : rules::settings_options()) {
      if (option.equal(old, now)) continue;
      EXPECT_NE(option.equal(in_force, now), named.find(option.name) != std::string::npos)
          << change.name << " " << named;
    }
  }
}

}  // namespace
}  // namespace penstock::daemon
