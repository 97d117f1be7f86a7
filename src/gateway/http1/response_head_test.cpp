#include "gateway/http1/message_head.hpp"
#include "gateway/http1/message_writer.hpp"
#include "gateway/proxy/proxy_error.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace penstock::gateway {
namespace {

using RequestMethod = ResponseHeadReader::RequestMethod;
using Kind = BodyFraming::Kind;

std::optional<BodyFraming> framing(std::string_view bytes,
                                   RequestMethod request_method = RequestMethod::Other) {
  ResponseHeadReader reader(4096);
  const auto found = reader.read(bytes, request_method);
  if (!std::holds_alternative<ResponseHeadReader::End>(found)) return std::nullopt;
  return reader.head().body;
}

TEST(ResponseHead, DeterminesTheBodyFraming) {
  EXPECT_EQ(framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
            (BodyFraming{.kind = Kind::Length, .length = 5}));
  EXPECT_EQ(framing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (BodyFraming{.kind = Kind::Chunked}));
  EXPECT_EQ(framing("HTTP/1.1 200 OK\r\n\r\n"), (BodyFraming{.kind = Kind::UntilClose}));
  EXPECT_EQ(framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", RequestMethod::Head),
            BodyFraming{});
  EXPECT_EQ(framing("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), BodyFraming{});
  EXPECT_EQ(framing("HTTP/1.1 204 No Content\r\n\r\n"), BodyFraming{});
  EXPECT_EQ(framing("HTTP/1.1 100 Continue\r\n\r\n"), BodyFraming{});
}

TEST(ResponseHead, RejectsMalformedHeads) {
  for (const std::string_view bytes :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "HTTP/1.1 200 OK\nX: a\n\n",
        "HTTP/1.1 999 Odd\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "SSH-2.0-x\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX : a\r\n\r\n"}) {
    ResponseHeadReader reader(4096);
    const auto found = reader.read(bytes, RequestMethod::Other);
    EXPECT_TRUE(std::holds_alternative<ResponseHeadReader::Malformed>(found)) << bytes;
  }
}

TEST(ResponseHead, DeterminesKeepAlive) {
  const auto kept = [](std::string_view bytes,
                       RequestMethod request_method = RequestMethod::Other) {
    ResponseHeadReader reader(4096);
    EXPECT_TRUE(
        std::holds_alternative<ResponseHeadReader::End>(reader.read(bytes, request_method)));
    return reader.head().keeps_alive;
  };
  EXPECT_TRUE(kept("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_FALSE(kept("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(kept("HTTP/1.1 200 OK\r\n\r\n"));
  EXPECT_TRUE(kept("HTTP/1.1 200 OK\r\n\r\n", RequestMethod::Head));
  EXPECT_FALSE(kept("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_TRUE(kept("HTTP/1.1 304 Not Modified\r\n\r\n"));
}

std::string answer(std::string bytes, Version version, const answer::HeaderFields& ours) {
  ResponseHeadReader reader(4096);
  EXPECT_TRUE(
      std::holds_alternative<ResponseHeadReader::End>(reader.read(bytes, RequestMethod::Other)));
  keep_end_to_end(reader.head(), ours, Trailers::Yes);
  const ClientResponseHead head{.status = reader.head().status,
                                .reason = reader.head().reason,
                                .fields = reader.head().fields,
                                .ours = &ours,
                                .body = reader.head().body,
                                .has_length = true};
  const BodyFraming::Kind kind = downstream_framing(head, version);
  std::string text;
  append_response_head(text, head, kind, version,
                       kind == Kind::UntilClose ? AfterResponse::Close : AfterResponse::KeepAlive,
                       "Date: now\r\n");
  return text;
}

TEST(ResponseText, ReplacesRateLimitHeadersOfTheUpstream) {
  EXPECT_EQ(
      answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx-ratelimit-limit: 1\r\nA: b\r\n"
             "Connection: keep-alive, C\r\nC: d\r\n\r\n",
             Version::Http11, {{"X-RateLimit-Limit", "7"}}),
      "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 5\r\nA: b\r\nX-RateLimit-Limit: 7\r\n\r\n");
}

TEST(ResponseText, SendsNoChunksToHttp10Clients) {
  constexpr std::string_view kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(answer(std::string(kChunked), Version::Http11, {}),
            "HTTP/1.1 200 OK\r\nDate: now\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(answer(std::string(kChunked), Version::Http10, {}),
            "HTTP/1.1 200 OK\r\nDate: now\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answer("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", Version::Http11, {}),
            "HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n");
}

}  // namespace
}  // namespace penstock::gateway
