#include "replay/run/log_attributes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::replay {
namespace {

// "name=value ..." of the request, or "rejected"
std::string derived(const LogRecord& record, LogAttributes::Settings settings = {}) {
  LogAttributes attributes(std::move(settings));
  const auto entries = attributes.derive(record);
  if (!entries) return "rejected";
  std::string text;
  for (const rules::Attribute& one : **entries) {
    text += (text.empty() ? "" : " ") + std::string(one.name) + "=" + std::string(one.value);
  }
  return text;
}

LogRecord record_of(std::string_view target) {
  LogRecord record;
  record.method = "GET";
  record.target = target;
  return record;
}

TEST(LogAttributes, NormalizesTheTargetAsTheGatewayDoes) {
  EXPECT_EQ(derived(record_of("/a/../%62//c;v=1?q=1&r")), "method=GET path=/b/c query=q=1&r");
  EXPECT_EQ(derived(record_of("http://Example.com:80/a?q")),
            "method=GET path=/a query=q host=example.com");
  EXPECT_EQ(derived(record_of("http://example.com")), "method=GET path=/ host=example.com");
  EXPECT_EQ(derived(record_of("/a"),
                    {.paths = {.letter_case = rules::PathSettings::LetterCase::Insensitive}}),
            "method=GET path=/a");
}

TEST(LogAttributes, SkipsTargetsThatTheGatewayRejects) {
  for (const std::string_view target : {"/../a", "/%zz", "/a\\b", "/a#b", "*", "example.com:443"}) {
    EXPECT_EQ(derived(record_of(target)), "rejected") << target;
  }
}

TEST(LogAttributes, WritesAddressesInTheirCanonicalForm) {
  LogRecord record;
  for (const auto& [text, canonical] : {std::pair{"192.0.2.7", "192.0.2.7"},
                                        {"192.0.2.7:4134", "192.0.2.7"},
                                        {"::ffff:192.0.2.7", "192.0.2.7"},
                                        {"2001:DB8:0::1", "2001:db8::1"},
                                        {"[2001:db8::1]:80", "2001:db8::1"},
                                        {"192.0.2.07", "192.0.2.07"},
                                        {"localhost", "localhost"},
                                        {"1.2.3", "1.2.3"},
                                        {"1.2.3.256", "1.2.3.256"}}) {
    record.client_ip = text;
    EXPECT_EQ(derived(record), std::string("client_ip=") + canonical) << text;
  }
}

TEST(LogAttributes, FindsTheClientBehindTrustedProxies) {
  LogRecord record;
  record.client_ip = "10.0.0.1";
  record.others = {
      {.name = "header.x-forwarded-for", .value = "198.51.100.1, 192.0.2.7, 10.0.0.2"}};
  const std::vector<std::string> proxies{"10.0.0.0/8"};
  EXPECT_EQ(derived(record, {.trusted = *http::TrustedProxies::parse(proxies)}),
            "client_ip=192.0.2.7 header.x-forwarded-for=198.51.100.1, 192.0.2.7, 10.0.0.2");
  EXPECT_EQ(derived(record),
            "client_ip=10.0.0.1 header.x-forwarded-for=198.51.100.1, 192.0.2.7, 10.0.0.2");
}

TEST(LogAttributes, KeepsOnlyWhatRulesUseAndKnowsWhatIsMissing) {
  LogRecord record = record_of("/a?q=1");
  record.client_ip = "192.0.2.7";
  record.others = {{.name = "header.user-agent", .value = "curl"},
                   {.name = "user", .value = "ann"}};
  LogAttributes attributes({.wanted = std::vector<std::string>{"path", "user", "host", "plan"}});
  const auto entries = attributes.derive(record);
  ASSERT_TRUE(entries);
  ASSERT_EQ((*entries)->size(), 2U);
  EXPECT_EQ((*entries)->front().name, "path");
  EXPECT_EQ((*entries)->back().name, "user");
  EXPECT_EQ(attributes.never_seen(), (std::vector<std::string>{"host", "plan"}));
}

}  // namespace
}  // namespace penstock::replay
