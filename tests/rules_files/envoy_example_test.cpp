// examples/envoy-ratelimit.yaml behaves as its comments say, and the migration page names settings
// that exist.
#include "rules/model/configuration.hpp"
#include "rules/settings/settings_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace penstock::rules {
namespace {

const std::filesystem::path kRoot{PENSTOCK_SOURCE_DIR};

struct EnvoyExample : ::testing::Test {
  std::shared_ptr<const Ruleset> rules;
  Settings settings;

  void SetUp() override {
    const std::vector paths{kRoot / "examples/envoy-settings.yaml",
                            kRoot / "examples/envoy-ratelimit.yaml"};
    const Loaded loaded = load(paths);
    for (const Diagnostic& diagnostic : loaded.diagnostics) ADD_FAILURE() << to_string(diagnostic);
    ASSERT_TRUE(loaded.configuration.has_value());
    rules = loaded.configuration->rules;
    settings = loaded.configuration->settings;
    EXPECT_EQ(loaded.configuration->files, paths);
  }

  Match match(std::vector<std::vector<Attribute>> descriptors) const {
    Request request{.domain = "shop", .descriptors = {}};
    for (auto& entries : descriptors) {
      request.descriptors.push_back({.entries = std::move(entries)});
    }
    return rules->match(request);
  }
  // "limit of key": "20/s of remote_address=192.0.2.1"; "-" when there is none.
  std::string limit_for(std::vector<Attribute> entries) const {
    const Match found = match({std::move(entries)});
    if (found.limits.empty()) return "-";
    const core::NamedCheck& check = found.limits.front().check;
    return to_string(check.quota) + " of " + check.name.subject;
  }
};

TEST_F(EnvoyExample, LimitsEachAddressSeparately) {
  EXPECT_EQ(limit_for({{"remote_address", "192.0.2.1"}}),
            "20/s fixed_window of remote_address=192.0.2.1");
}

TEST_F(EnvoyExample, ExemptsAndBansAddresses) {
  EXPECT_EQ(match({{{"remote_address", "10.1.0.4"}}}).descriptors,
            std::vector{DescriptorOutcome::Unlimited});
  const Match banned = match({{{"remote_address", "203.0.113.66"}}});
  ASSERT_EQ(banned.limits.size(), 1U);
  EXPECT_EQ(banned.limits.front().rule->name, "remote_address_203.0.113.66");
  EXPECT_EQ(banned.limits.front().check.quota.capacity(), 0U);
}

TEST_F(EnvoyExample, LimitsPostsByPath) {
  EXPECT_EQ(limit_for({{"method", "POST"}}), "-");
  EXPECT_EQ(limit_for({{"method", "GET"}, {"path", "/orders/1"}}), "-");
  EXPECT_EQ(limit_for({{"method", "POST"}, {"path", "/orders/1"}}),
            "600/m fixed_window of method=POST&path=/orders/*");
  EXPECT_EQ(limit_for({{"method", "POST"}, {"path", "/carts/7/items"}}),
            "60/m fixed_window of method=POST&path=/carts/7/items");
  EXPECT_EQ(limit_for({{"method", "POST"}, {"path", "/login"}}),
            "300/m fixed_window of method=POST&path=/login");
  EXPECT_EQ(match({{{"method", "POST"}, {"path", "/login"}}}).limits.at(0).metric,
            "shop.method_POST.path_/login");
}

TEST_F(EnvoyExample, LimitsGoldCustomersOnlyByTheirPlan) {
  const Match gold = match({{{"customer", "eve"}}, {{"plan", "gold"}}});
  EXPECT_EQ(gold.descriptors,
            (std::vector{DescriptorOutcome::Replaced, DescriptorOutcome::Limited}));
  EXPECT_EQ(gold.limits.at(0).rule->given_name, "gold-plan");
  EXPECT_EQ(match({{{"customer", "eve"}}, {{"plan", "tin"}}}).descriptors,
            (std::vector{DescriptorOutcome::Limited, DescriptorOutcome::NoRule}));
}

TEST_F(EnvoyExample, UsesPenstockOptionsInTheLastBlock) {
  const Rule* login = rules->find("shop", "login");
  ASSERT_NE(login, nullptr);
  EXPECT_EQ(login->limits.at(0).quota, Quota(per_minute(10).burst(3)));
  EXPECT_EQ(login->on_failure, OnFailure::Closed);
  EXPECT_TRUE(login->count_denied);
  EXPECT_TRUE(rules->find("shop", "user_agent")->shadow);
  EXPECT_TRUE(rules->find("shop", "credits")->quota_mode);
}

TEST_F(EnvoyExample, HasASettingsFile) {
  EXPECT_EQ(settings.store_url, "redis://127.0.0.1:6379");
  EXPECT_EQ(settings.redis.timeout, std::chrono::milliseconds{10});
  EXPECT_EQ(settings.log.level, LogSettings::Level::Warning);
}

TEST(EnvoyMigration, NamesSettingsThatExist) {
  std::ifstream file(kRoot / "docs/how-to/migrate-from-envoy-ratelimit.md");
  std::ostringstream page;
  page << file.rdbuf();
  const std::string text = page.str().substr(page.str().find("## Settings"));
  std::size_t named = 0;
  for (const OptionTable& section : option_tables()) {
    const std::string prefix = "`" + std::string(section.name) + ".";
    for (std::size_t at = text.find(prefix); at != std::string::npos;
         at = text.find(prefix, at + 1)) {
      const std::size_t begin = at + prefix.size();
      const std::string key = text.substr(begin, text.find('`', begin) - begin);
      EXPECT_NE(std::ranges::find(section.rows, key, &OptionRow::key), section.rows.end())
          << prefix << key;
      ++named;
    }
  }
  EXPECT_GE(named, 12U);
}

}  // namespace
}  // namespace penstock::rules
