#include "gateway/forwarded_request.hpp"

#include "gateway/hop_by_hop.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::gateway {
namespace {

std::string forwarded(std::string bytes, Trust trust = Trust::Nobody,
                      std::string_view peer = "192.0.2.1") {
  RequestHeadReader reader({});
  const auto found = reader.look(bytes);
  EXPECT_TRUE(std::holds_alternative<RequestHeadReader::End>(found)) << bytes;
  const RequestHead& head = reader.head();
  return forwarded_head(head, head.path, {.peer = peer, .scheme = "https", .trust = trust});
}

constexpr std::string_view kOrigin =
    "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: a\r\n"
    "Forwarded: for=192.0.2.1;host=\"a\";proto=https\r\nVia: 1.1 penstock\r\n";

TEST(ForwardedRequest, LosesWhatIsAboutTheConnection) {
  EXPECT_EQ(forwarded("GET /x?y HTTP/1.1\r\nHost: a\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\n"
                      "Keep-Alive: 5\r\nTE: trailers\r\nAccept: b\r\nProxy-Connection: c\r\n\r\n"),
            "GET /x?y HTTP/1.1\r\nHost: a\r\nAccept: b\r\n" + std::string(kOrigin) + "\r\n");
}

TEST(ForwardedRequest, KeepsWhatConnectionMayNotRemove) {
  EXPECT_NE(forwarded("GET / HTTP/1.1\r\nHost: a\r\nConnection: Authorization\r\n"
                      "Authorization: b\r\n\r\n")
                .find("Authorization: b\r\n"),
            std::string::npos);
}

TEST(ForwardedRequest, SaysHowTheBodyEnds) {
  EXPECT_EQ(forwarded("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 007\r\n\r\n"),
            "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "Content-Length: 7\r\n\r\n");
  EXPECT_EQ(forwarded("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) +
                "Transfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(forwarded("PUT / HTTP/1.1\r\nHost: a\r\n\r\n"),
            "PUT / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "Content-Length: 0\r\n\r\n");
}

TEST(ForwardedRequest, BelievesNobodyAboutWhereItCameFrom) {
  EXPECT_EQ(
      forwarded("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\nX-Real-IP: 1.1.1.1\r\n"
                "X_Forwarded_For: 1.1.1.1\r\nForwarded: for=1.1.1.1\r\n"
                "X-Forwarded-Proto: ftp\r\nX-Forwarded-Prefix: /\r\n\r\n"),
      "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(kOrigin) + "\r\n");
}

TEST(ForwardedRequest, AddsToWhatATrustedProxySaid) {
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

TEST(ForwardedRequest, PassesUpgradesOnButNotToHttp2) {
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

TEST(ForwardedRequest, TakesAPrefixOffThatIsThere) {
  EXPECT_EQ(*without_prefix("/api/x", "/api"), "/x");
  EXPECT_EQ(*without_prefix("/api", "/api"), "/");
  EXPECT_EQ(*without_prefix("/x", ""), "/x");
  EXPECT_FALSE(without_prefix("/apix", "/api").has_value());
  EXPECT_FALSE(without_prefix("/%61pi/x", "/api").has_value());
}

TEST(HopByHop, LetsNoTrailerDeceive) {
  EXPECT_TRUE(is_forbidden_trailer("Content-Length"));
  EXPECT_TRUE(is_forbidden_trailer("transfer-encoding"));
  EXPECT_TRUE(is_forbidden_trailer("Authorization"));
  EXPECT_FALSE(is_forbidden_trailer("Grpc-Status"));
}

}  // namespace
}  // namespace penstock::gateway
