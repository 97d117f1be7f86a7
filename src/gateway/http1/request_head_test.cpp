#include "gateway/http1/message_head.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::gateway {
namespace {

unsigned status_of(std::string_view bytes) {
  RequestHeadReader reader(16 * 1024);
  const auto found = reader.read(bytes);
  if (const auto* rejection = std::get_if<HttpError>(&found)) return rejection->status;
  return std::holds_alternative<RequestHeadReader::End>(found) ? 200 : 0;
}

TEST(RequestHead, ParsesMethodTargetAndFields) {
  RequestHeadReader reader(16 * 1024);
  const std::string bytes =
      "\r\nPOST /a/b?c=d HTTP/1.1\r\nHost: Example.com:81\r\nContent-Length: 5\r\n"
      "Expect: 100-continue\r\nX: y\r\n\r\nhello";
  const auto found = reader.read(bytes);
  ASSERT_TRUE(std::holds_alternative<RequestHeadReader::End>(found));
  EXPECT_EQ(std::get<RequestHeadReader::End>(found).bytes, bytes.size() - 5);
  const RequestHead& head = reader.head();
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.query, "?c=d");
  EXPECT_EQ(head.host, "Example.com:81");
  EXPECT_EQ(head.field("x"), "y");
  EXPECT_EQ(head.body, (BodyFraming{.kind = BodyFraming::Kind::Length, .length = 5}));
  EXPECT_TRUE(head.expects_continue);
  EXPECT_TRUE(head.keeps_alive);
}

RC_GTEST_PROP(RequestHead, ParsesTheSameInAnyPortions, ()) {
  const std::string bytes = "GET /x HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n";
  RequestHeadReader reader(16 * 1024);
  std::size_t size = 0;
  while (size < bytes.size()) {
    size += *rc::gen::inRange<std::size_t>(1, bytes.size() - size + 1);
    const auto found = reader.read(std::string_view(bytes).substr(0, size));
    RC_ASSERT(std::holds_alternative<RequestHeadReader::End>(found) == (size == bytes.size()));
  }
  RC_ASSERT(reader.head().path == "/x");
}

TEST(RequestHead, AbsoluteTargetMustMatchHost) {
  RequestHeadReader reader(16 * 1024);
  const std::string bytes = "GET http://a.example/x?y HTTP/1.1\r\nHost: A.example\r\n\r\n";
  ASSERT_TRUE(std::holds_alternative<RequestHeadReader::End>(reader.read(bytes)));
  EXPECT_EQ(reader.head().host, "a.example");
  EXPECT_EQ(reader.head().path, "/x");
  EXPECT_EQ(status_of("GET http://a/x HTTP/1.1\r\nHost: b\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("GET http://u@a/x HTTP/1.1\r\nHost: u@a\r\n\r\n"), 400U);
}

TEST(RequestHead, RejectsInvalidHosts) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"), 200U);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 200U);
  EXPECT_EQ(status_of("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n"), 501U);
  EXPECT_EQ(status_of("GET /login#1 HTTP/1.1\r\nHost: a\r\n\r\n"), 400U);
  EXPECT_EQ(status_of("GET /login?a#1 HTTP/1.1\r\nHost: a\r\n\r\n"), 400U);
}

TEST(RequestHead, RejectsTwoTransferEncodings) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n"),
            400U);
}

}  // namespace
}  // namespace penstock::gateway
