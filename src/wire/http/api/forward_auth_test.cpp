#include "http_api/test_calls.hpp"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

using std::chrono::milliseconds;
using Asked = std::vector<std::string>;

class ForwardAuth : public ApiTest {
 protected:
  // The attributes of the request, without those that repeat the fields.
  std::string attributes(std::vector<Field> fields, std::string_view method = "GET",
                         std::string_view target = "/v1/forward-auth/web") {
    backend_.asked.clear();
    const Response response = ask(method, target, "ignored", std::move(fields));
    if (backend_.asked.empty()) return std::to_string(response.status) + " " + response.body;
    const std::string& text = backend_.asked.front();
    return text.substr(0, text.find(" header."));
  }
};

const Decision kRefused = Decision::deny(100, 0, milliseconds{10'000}, milliseconds{1'100});

TEST_F(ForwardAuth, ReadsTheFieldsOfEachProxy) {
  EXPECT_EQ(attributes({{"X-Forwarded-Method", "PUT"},
                        {"X-Forwarded-Uri", "/a//b?c=d"},
                        {"X-Forwarded-Host", "Example.org"},
                        {"X-Forwarded-Proto", "https"},
                        {"X-Forwarded-For", "192.0.2.9"}}),
            "web x1 [method=PUT path=/a/b query=c=d host=example.org proto=https "
            "client_ip=192.0.2.9");
  EXPECT_EQ(attributes({{"X-Original-Method", "POST"},
                        {"X-Original-URI", "/a"},
                        {"Host", "example.org"},
                        {"X-Real-IP", "192.0.2.9"}}),
            "web x1 [method=POST path=/a host=example.org client_ip=192.0.2.9");
  EXPECT_EQ(attributes({{"X-Original-URL", "https://example.org/a?b"}, {"Host", "h"}}, "HEAD"),
            "web x1 [method=HEAD path=/a query=b host=h client_ip=127.0.0.1");
}

TEST_F(ForwardAuth, EveryFieldIsAnAttribute) {
  ask("GET", "/v1/forward-auth", "", {{"X-Api-Key", "k"}, {"Accept", "a"}, {"accept", "b"}});
  EXPECT_EQ(backend_.asked, Asked{"default x1 [method=GET host= client_ip=127.0.0.1 "
                                  "header.x-api-key=k header.accept=a, b]"});
}

TEST_F(ForwardAuth, FieldsThatConnectionNamesAreNoAttributes) {
  ask("GET", "/v1/forward-auth", "",
      {{"Connection", "close, X-Api-Key"}, {"X-Api-Key", "k"}, {"Accept", "a"}});
  EXPECT_EQ(backend_.asked, Asked{"default x1 [method=GET host= client_ip=127.0.0.1 "
                                  "header.connection=close, X-Api-Key header.accept=a]"});
}

TEST_F(ForwardAuth, PathsThatNoServerShouldGetAreRejected) {
  for (const std::string_view path :
       {"/login%00", "/login%zz", "/a%0ab", "/../login", "/x/..;/a"}) {
    EXPECT_EQ(attributes({{"X-Forwarded-Uri", path}}).find("400 "), 0U) << path;
  }
}

TEST_F(ForwardAuth, PathsAreNormalized) {
  const auto path = [&](std::string_view uri) {
    const std::string text = attributes({{"X-Forwarded-Uri", uri}, {"Host", "h"}});
    const std::size_t begin = text.find("path=") + 5;
    return text.substr(begin, text.find(" host=") - begin);
  };
  EXPECT_EQ(path("/x/../%6Cogin;a=b"), "/login");
  EXPECT_EQ(path("/a%2fb\\c"), "/a%2Fb%5Cc");  // the proxy decides what it forwards
}

TEST_F(ForwardAuth, ContradictoryHeadersAreRejected) {
  EXPECT_EQ(attributes({{"X-Forwarded-Uri", "/free"}, {"X-Original-URI", "/paid"}}).find("400 "),
            0U);
  EXPECT_EQ(attributes({{"X-Forwarded-Method", "GET"}, {"X-Original-Method", "PUT"}}).find("400 "),
            0U);
  EXPECT_EQ(attributes({{"X-Forwarded-Host", "a"}, {"X-Forwarded-Host", "b"}}).find("400 "), 0U);
  EXPECT_EQ(
      attributes({{"X-Original-URL", "https://h/paid"}, {"X-Forwarded-Uri", "/free"}}).find("400 "),
      0U);
  EXPECT_EQ(
      attributes({{"X-Original-URL", "https://h/a"}, {"X-Forwarded-Uri", "/a"}}).find("web x1 "),
      0U);
  EXPECT_EQ(attributes({{"X-Forwarded-Uri", "/a"}, {"X-Original-URI", "/a"}}).find("web x1 "), 0U);
}

TEST_F(ForwardAuth, EquivalentHeaderNamesAreOneAttribute) {
  for (const char* host : {"api.example.org", "API.Example.org:8443", "api.example.org."}) {
    EXPECT_EQ(attributes({{"X-Forwarded-Uri", "/login#1"}, {"Host", host}}, "get"),
              "web x1 [method=GET path=/login host=api.example.org client_ip=127.0.0.1")
        << host;
  }
  EXPECT_EQ(attributes({{"X-Forwarded-Uri", "/"}, {"Host", "[2001:db8::1]:80"}}),
            "web x1 [method=GET path=/ host=[2001:db8::1] client_ip=127.0.0.1");
}

TEST_F(ForwardAuth, AllowedIsEmptyWithTheHeaders) {
  backend_.next = answer_of(Decision::allow(100, 99, milliseconds{100}));
  const Response response = ask("PATCH", "/v1/forward-auth");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(field(response, "X-RateLimit-Remaining"), "99");
  EXPECT_EQ(field(response, "X-RateLimit-Decision"), "allowed");
  EXPECT_EQ(field(response, "X-RateLimit-Reason"), "within_limits");
}

TEST_F(ForwardAuth, DenialCarriesHeadersForTheProxyToForward) {
  backend_.next = answer_of(kRefused);
  const Response response = ask("GET", "/v1/forward-auth");
  EXPECT_EQ(response.status, 429U);
  EXPECT_EQ(field(response, "Retry-After"), "2");
  EXPECT_EQ(field(response, "X-RateLimit-Decision"), "denied");
  EXPECT_EQ(field(response, "X-RateLimit-Reason"), "over_limit");
  EXPECT_EQ(field(response, "Content-Type"), "application/problem+json");
  EXPECT_NE(response.body.find("\"status\":429"), std::string::npos);
}

TEST_F(ForwardAuth, DenyStatusIsForProxiesThatKnowOneOnly) {
  backend_.next = answer_of(kRefused);
  const Response asked = ask("GET", "/v1/forward-auth?deny=403");
  EXPECT_EQ(asked.status, 403U);
  EXPECT_EQ(field(asked, "Retry-After"), "2");
  EXPECT_NE(asked.body.find("\"status\":403"), std::string::npos);
  settings_.forward_auth.deny_status = 403;
  EXPECT_EQ(ask("GET", "/v1/forward-auth").status, 403U);
  EXPECT_EQ(ask("GET", "/v1/forward-auth?deny=429").status, 429U);
  backend_.next.reason = service::Reason::FailedClosed;
  EXPECT_EQ(ask("GET", "/v1/forward-auth").status, 403U);
  EXPECT_EQ(ask("GET", "/v1/forward-auth?deny=429").status, 503U);
}

TEST_F(ForwardAuth, TakesTheDomainFromThePath) {
  EXPECT_EQ(attributes({}, "GET", "/v1/forward-auth/web").find("web x1 "), 0U);
  EXPECT_EQ(ask("GET", "/v1/forward-auth/").status, 400U);
}

TEST_F(ForwardAuth, QueryOfTheClientIsIgnored) {
  EXPECT_EQ(attributes({}, "GET", "/v1/forward-auth/web?cost=0&x=1&%zz").find("web x1 "), 0U);
  backend_.next = answer_of(kRefused);
  for (const char* deny : {"200", "399", "600", "x", ""}) {
    EXPECT_EQ(ask("GET", std::string("/v1/forward-auth?deny=") + deny).status, 429U) << deny;
  }
}

}  // namespace
}  // namespace penstock::http
