#include "gateway/proxy/forwarded_request.hpp"

#include "gateway/http1/fields.hpp"
#include "http/target.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::gateway {
namespace {

// The forwarded head, or the reason for the rejection.
std::string forwarded(std::string bytes, Trust trust = Trust::None,
                      std::string_view peer = "192.0.2.1",
                      const rules::GatewaySettings& settings = {}) {
  RequestHeadReader reader(16 * 1024);
  const auto found = reader.read(bytes);
  EXPECT_TRUE(std::holds_alternative<RequestHeadReader::End>(found)) << bytes;
  const ForwardedRequest request(reader.head(), {.peer = peer, .scheme = "https", .trust = trust},
                                 settings);
  if (request.rejection()) return std::string(request.rejection()->detail);
  return request.text(request.path().forwarded);
}

std::string with_fields(const std::string& fields) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

constexpr std::string_view kOrigin =
    "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: a\r\n"
    "Forwarded: for=192.0.2.1;host=\"a\";proto=https\r\nVia: 1.1 penstock\r\n";

TEST(ForwardedRequest, DropsHopByHopFields) {
  EXPECT_EQ(forwarded("GET /x?y HTTP/1.1\r\nHost: a\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\n"
                      "Keep-Alive: 5\r\nTE: trailers\r\nAccept: b\r\nProxy-Connection: c\r\n\r\n"),
            "GET /x?y HTTP/1.1\r\nHost: a\r\nAccept: b\r\n" + std::string(kOrigin) + "\r\n");
}

TEST(ForwardedRequest, IsRejectedWhenConnectionNamesARequiredField) {
  const std::string rejection = "Connection names a field that must be forwarded";
  for (const std::string name : {"Authorization", "host", "Content-Length", "cookie", "via",
                                 "X-Forwarded-For", "Forwarded", "x-forwarded-proto"}) {
    EXPECT_EQ(forwarded(with_fields("Connection: close, " + name + "\r\n")), rejection) << name;
  }
  std::string many = "Connection: a";
  for (int i = 0; i < 50; ++i) many += ", a" + std::to_string(i);
  EXPECT_EQ(forwarded(with_fields(many + "\r\n")), rejection);
}

TEST(ForwardedRequest, JoinsFieldsOfOneName) {
  EXPECT_EQ(forwarded(with_fields("X-Api-Key: a\r\nCookie: b=1\r\nx-api-key: c\r\nCookie: d=2\r\n"
                                  "Via: 1.0 e\r\n")),
            "GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: a, c\r\nCookie: b=1; d=2\r\n"
            "Via: 1.0 e, 1.1 penstock\r\n" +
                std::string(kOrigin.substr(0, kOrigin.find("Via:"))) + "\r\n");
  EXPECT_EQ(forwarded(with_fields("Authorization: a\r\nauthorization: b\r\n")),
            "a field that may occur once occurs twice");
}

TEST(ForwardedRequest, DropsFieldsThatNameAnotherTarget) {
  const std::string fields =
      "X-Original-URL: /admin\r\nX-Rewrite-URL: /admin\r\nX_Original_URL: /admin\r\n"
      "Proxy: http://evil\r\n";
  EXPECT_EQ(forwarded(with_fields(fields)),
            "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "\r\n");
  EXPECT_NE(forwarded(with_fields(fields), Trust::Proxy).find("X-Original-URL: /admin\r\n"),
            std::string::npos);
}

TEST(ForwardedRequest, UnderscoresFollowTheSetting) {
  const std::string bytes = with_fields("X_Api_Key: 1\r\n");
  rules::GatewaySettings settings;
  EXPECT_EQ(forwarded(bytes).find("X_Api_Key"), std::string::npos);
  settings.headers_with_underscores = rules::Underscores::Reject;
  EXPECT_EQ(forwarded(bytes, Trust::None, "192.0.2.1", settings),
            "a field name contains an underscore");
  settings.headers_with_underscores = rules::Underscores::Allow;
  EXPECT_NE(forwarded(bytes, Trust::None, "192.0.2.1", settings).find("X_Api_Key: 1\r\n"),
            std::string::npos);
}

TEST(ForwardedRequest, AnnouncesTrailersOnlyWhereTheyAreForwarded) {
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: a\r\nTrailer: Sum\r\nTransfer-Encoding: chunked\r\n\r\n";
  rules::GatewaySettings settings;
  EXPECT_EQ(forwarded(bytes).find("Trailer"), std::string::npos);
  settings.forward_request_trailers = true;
  EXPECT_NE(forwarded(bytes, Trust::None, "192.0.2.1", settings).find("Trailer: Sum\r\n"),
            std::string::npos);
}

TEST(ForwardedRequest, HasANormalizedPath) {
  const auto first_line = [](const std::string& target) {
    const std::string text = forwarded("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return text.substr(0, text.find("\r\n"));
  };
  EXPECT_EQ(first_line("/a/../%62//c?d=/../e"), "GET /b/c?d=/../e HTTP/1.1");
  EXPECT_EQ(first_line("/login%00"), "the path has a control character");
  EXPECT_EQ(first_line("*"), "the target * is valid only for OPTIONS");
  EXPECT_EQ(forwarded("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").substr(0, 20),
            "OPTIONS * HTTP/1.1\r\n");
}

std::string shown(const std::vector<rules::Attribute>& attributes) {
  std::string text;
  for (const rules::Attribute& one : attributes) {
    text.append(one.name).append("=").append(one.value).append("\n");
  }
  return text;
}

// The attributes that an upstream would compute from the bytes it receives.
std::string attributes_of(std::string_view bytes, const rules::PathSettings& paths) {
  RequestHeadReader reader(16 * 1024);
  const auto found = reader.read(bytes);
  RC_ASSERT(std::holds_alternative<RequestHeadReader::End>(found));
  const RequestHead& head = reader.head();
  const auto normal = http::normalized_path(head.path, paths);
  RC_ASSERT(std::holds_alternative<http::NormalizedPath>(normal));
  std::string text = "method=" + std::string(head.method) + "\n";
  text += "path=" + std::get<http::NormalizedPath>(normal).matched + "\n";
  if (head.query.size() > 1) text += "query=" + std::string(head.query.substr(1)) + "\n";
  text += "host=" + http::host_name(head.host) + "\nproto=https\nclient_ip=192.0.2.1\n";
  for (const Field& field : head.fields) {
    std::string name(field.name);
    for (char& letter : name) letter = lower(letter);
    text += "header." + name + "=" + std::string(field.value) + "\n";
  }
  return text;
}

std::string any_request() {
  using rc::gen::element;
  const auto names = element<std::string>(
      "X-Api-Key", "x-api-key", "X_Api_Key", "Authorization", "Cookie", "Connection", "Keep-Alive",
      "TE", "Trailer", "Upgrade", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via",
      "X-Real-IP", "X-Original-URL", "Expect", "Accept", "Proxy-Connection", "HTTP2-Settings");
  const auto values = element<std::string>("close", "x-api-key", "close, X-Api-Key", "upgrade", "a",
                                           "b, c", "websocket", "100-continue", "9.9.9.9",
                                           "keep-alive, accept", "authorization", "");
  std::string bytes = *element<std::string>("GET", "POST", "OPTIONS", "PURGE") + " ";
  bytes += *element<std::string>("/", "/a", "/a/../b", "/%61//c", "/l;x", "/a%2fb", "/a?b=c", "*",
                                 "/%00", "http://a.example:80/x?y");
  bytes += " HTTP/1.1\r\nHost: a.example:80\r\n";
  bytes += *element<std::string>("", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n");
  const auto fields = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
      rc::gen::pair(names, values));
  for (const auto& [name, value] : fields) bytes += name + ": " + value + "\r\n";
  return bytes + "\r\n";
}

RC_GTEST_PROP(ForwardedRequestProperty, RulesMatchTheForwardedRequest, ()) {
  const std::string bytes = any_request();
  RequestHeadReader reader(16 * 1024);
  const auto found = reader.read(bytes);
  if (!std::holds_alternative<RequestHeadReader::End>(found)) return;
  rules::GatewaySettings settings;
  settings.forward_request_trailers = *rc::gen::arbitrary<bool>();
  settings.headers_with_underscores =
      *rc::gen::element(rules::Underscores::Drop, rules::Underscores::Allow);
  const Trust trust = *rc::gen::element(Trust::None, Trust::Proxy);
  const ForwardedRequest request(
      reader.head(), {.peer = "192.0.2.1", .scheme = "https", .trust = trust}, settings);
  if (request.rejection()) return;
  const RequestAttributes attributes(request, {.address = "192.0.2.1", .scheme = "https"});
  RC_ASSERT(shown(attributes.attributes()) ==
            attributes_of(request.text(request.path().forwarded), settings.paths));
}

TEST(ForwardedRequest, DeclaresTheBodyFraming) {
  EXPECT_EQ(forwarded("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 007\r\n\r\n"),
            "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "Content-Length: 7\r\n\r\n");
  EXPECT_EQ(forwarded("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) +
                "Transfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(forwarded("PUT / HTTP/1.1\r\nHost: a\r\n\r\n"),
            "PUT / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "Content-Length: 0\r\n\r\n");
}

TEST(ForwardedRequest, ReplacesForwardingHeadersOfUntrustedPeers) {
  EXPECT_EQ(
      forwarded("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\n"
                "X_Forwarded_For: 1.1.1.1\r\nForwarded: for=1.1.1.1\r\n"
                "X-Forwarded-Proto: ftp\r\nX-Forwarded-Prefix: /\r\n\r\n"),
      "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "\r\n");
}

TEST(ForwardedRequest, AppendsToForwardingHeadersOfATrustedProxy) {
  EXPECT_EQ(forwarded("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\n"
                      "x-forwarded-for: 2.2.2.2\r\nForwarded: for=1.1.1.1\r\n"
                      "X-Forwarded-Proto: http\r\nX-Forwarded-Host: b\r\n\r\n",
                      Trust::Proxy, "2001:db8::1"),
            "GET / HTTP/1.1\r\nHost: a\r\n"
            "X-Forwarded-For: 1.1.1.1, 2.2.2.2, 2001:db8::1\r\nX-Forwarded-Proto: http\r\n"
            "X-Forwarded-Host: b\r\n"
            "Forwarded: for=1.1.1.1, for=\"[2001:db8::1]\";host=\"a\";proto=https\r\n"
            "Via: 1.1 penstock\r\n\r\n");
}

TEST(ForwardedRequest, ForwardsUpgradesExceptToHttp2) {
  EXPECT_EQ(
      forwarded("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
      "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) +
          "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  for (const std::string_view wanted : {"h2c", "H2C", "websocket, h2c", "HTTP/2.0"}) {
    EXPECT_EQ(
        forwarded("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: " +
                  std::string(wanted) + "\r\nHTTP2-Settings: x\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "\r\n")
        << wanted;
  }
}

TEST(ForwardedRequest, StripsThePrefixOfTheRoute) {
  using Case = rules::PathSettings::LetterCase;
  const auto sensitive = [](std::string_view path, std::string_view prefix) {
    return without_prefix(path, prefix, Case::Sensitive);
  };
  EXPECT_EQ(*sensitive("/api/x", "/api"), "/x");
  EXPECT_EQ(*sensitive("/api", "/api"), "/");
  EXPECT_EQ(*sensitive("/x", ""), "/x");
  EXPECT_FALSE(sensitive("/apix", "/api").has_value());
  EXPECT_FALSE(sensitive("/%61pi/x", "/api").has_value());
  EXPECT_FALSE(sensitive("/API/x", "/api").has_value());
  EXPECT_EQ(*without_prefix("/API/X", "/Api", Case::Insensitive), "/X");
  EXPECT_FALSE(without_prefix("/APIX", "/Api", Case::Insensitive).has_value());
  EXPECT_FALSE(without_prefix("/a", "/Api", Case::Insensitive).has_value());
}

TEST(HopByHop, ForbidsFramingRoutingAndIdentityTrailers) {
  EXPECT_TRUE(is_forbidden_trailer("Content-Length"));
  EXPECT_TRUE(is_forbidden_trailer("transfer-encoding"));
  EXPECT_TRUE(is_forbidden_trailer("Authorization"));
  EXPECT_TRUE(is_forbidden_trailer("Trailer"));
  EXPECT_TRUE(is_forbidden_trailer("X-Forwarded-Anything"));
  EXPECT_TRUE(is_forbidden_trailer("x_forwarded_for"));
  EXPECT_TRUE(is_forbidden_trailer("X-Rewrite-URL"));
  EXPECT_FALSE(is_forbidden_trailer("Grpc-Status"));
}

}  // namespace
}  // namespace penstock::gateway
