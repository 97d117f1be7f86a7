#include "http/client_address.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

TrustedProxies trust(std::vector<std::string> networks) {
  return TrustedProxies::parse(networks).value();
}

struct AddressCase {
  std::string_view peer;
  std::vector<Field> fields;
  std::string_view client;
};

TEST(ClientAddress, IsTheRightMostUntrustedAddress) {
  const TrustedProxies trusted = trust({"10.0.0.0/8", "::1", "2001:db8::/32"});
  const std::vector<AddressCase> cases{
      {"192.0.2.1", {{"X-Forwarded-For", "1.1.1.1"}}, "192.0.2.1"},  // the peer is not trusted
      {"10.0.0.1", {{"X-Forwarded-For", "1.1.1.1"}}, "1.1.1.1"},
      {"10.0.0.1", {{"x-forwarded-for", "6.6.6.6, 1.1.1.1, 10.9.9.9"}}, "1.1.1.1"},
      {"10.0.0.1", {{"X-Forwarded-For", "6.6.6.6"}, {"X-Forwarded-For", "1.1.1.1"}}, "1.1.1.1"},
      {"10.0.0.1", {{"X-Forwarded-For", "1.1.1.1, garbage, 10.2.2.2"}}, "10.2.2.2"},
      {"10.0.0.1", {{"X-Forwarded-For", "10.3.3.3, 10.2.2.2"}}, "10.3.3.3"},
      {"10.0.0.1", {{"X-Forwarded-For", "1.1.1.1:4711"}}, "1.1.1.1"},
      {"::1", {{"X-Forwarded-For", "[2001:DB9::1]:4711"}}, "2001:db9::1"},
      {"::1", {{"X-Forwarded-For", "2001:db9::1, 2001:db8::7"}}, "2001:db9::1"},
      {"::ffff:10.0.0.1", {{"X-Forwarded-For", "::ffff:1.1.1.1"}}, "1.1.1.1"},
      {"10.0.0.1", {{"X-Real-IP", "1.1.1.1"}}, "1.1.1.1"},
      {"10.0.0.1", {{"X-Real-IP", "1.1.1.1"}, {"X-Forwarded-For", "2.2.2.2"}}, "2.2.2.2"},
      {"192.0.2.1", {{"X-Real-IP", "1.1.1.1"}}, "192.0.2.1"},
      {"10.0.0.1", {{"X-Forwarded-For", ""}}, "10.0.0.1"},
      {"10.0.0.1", {{"X-Forwarded-For", "unknown"}}, "10.0.0.1"},
      {"10.0.0.1", {{"X-Forwarded-For", "unix:"}, {"X-Real-IP", "1.1.1.1"}}, "10.0.0.1"},
      {"10.0.0.1", {}, "10.0.0.1"},
  };
  for (const AddressCase& expected : cases) {
    Request request;
    request.peer = expected.peer;
    request.fields = expected.fields;
    EXPECT_EQ(client_address(request, trusted), expected.client)
        << expected.peer << " " << (expected.fields.empty() ? "" : expected.fields[0].value);
  }
}

TEST(TrustedProxies, RejectsInvalidNetworks) {
  for (const std::string text : {"10.0.0.0/33", "::/129", "host", "10.0.0.0/", "10.0.0.0/x", ""}) {
    const Result<TrustedProxies> proxies = TrustedProxies::parse(std::vector{text});
    ASSERT_FALSE(proxies.has_value()) << text;
    EXPECT_EQ(proxies.error().detail.find("trusted_proxies: \"" + text + "\""), 0U);
  }
}

TEST(TrustedProxies, HoldsIpv4InBothForms) {
  const TrustedProxies trusted = trust({"192.0.2.0/24", "0.0.0.0/32"});
  EXPECT_TRUE(trusted.contains(*read_address("192.0.2.255")));
  EXPECT_TRUE(trusted.contains(*read_address("::ffff:192.0.2.9")));
  EXPECT_FALSE(trusted.contains(*read_address("192.0.3.0")));
  EXPECT_FALSE(trusted.contains(*read_address("::1")));
}

}  // namespace
}  // namespace penstock::http
