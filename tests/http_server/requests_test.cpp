#include "http_server/client.hpp"
#include "http_server/malformed_requests.hpp"
#include "http_server/running_server.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::http_server {
namespace {

TEST(HttpServer, AnswersManyRequestsOnOneConnection) {
  RunningServer server;
  Client client(server.port());
  for (int i = 0; i < 100; ++i) {
    const std::string path = "/" + std::to_string(i);
    const Answer answer = client.ask(path + "?a=b");
    ASSERT_EQ(answer.status, 200U);
    ASSERT_EQ(answer.body, "GET " + path + "?a=b 127.0.0.1{}");
  }
  const auto statistics = server.statistics();
  EXPECT_EQ(statistics.accepted, 1U);
  EXPECT_EQ(statistics.open, 1U);
  EXPECT_EQ(statistics.requests, 100U);
  EXPECT_EQ(statistics.responses.at(2), 100U);
  EXPECT_GT(statistics.bytes_in, 100U * 30);
  EXPECT_GT(statistics.bytes_out, 100U * 80);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  RunningServer server;
  Client client(server.port());
  std::string all;
  for (int i = 0; i < 200; ++i) {
    all += "GET " + std::string(i % 10 == 0 ? "/later" : "/") + std::to_string(i) +
           " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  client.send(all);
  for (int i = 0; i < 200; ++i) {
    if (i % 10 == 0) {
      servers::wait_until("the request", [&] { return server.echo.waiting() == 1; });
      server.call([&] { server.echo.answer_all(); });
    }
    const std::string path = (i % 10 == 0 ? "/later" : "/") + std::to_string(i);
    ASSERT_EQ(client.read().body, "GET " + path + " 127.0.0.1{}");
  }
}

TEST(HttpServer, ReadsBodiesWithALengthAndInChunks) {
  RunningServer server;
  Client client(server.port());
  const std::string body(200'000, 'b');
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + body);
  EXPECT_EQ(client.read().body, "POST / 127.0.0.1{" + body + "}");
  client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 10; ++i) client.send("1\r\n" + std::to_string(i) + "\r\n");
  client.send("0\r\n\r\n");
  EXPECT_EQ(client.read().body, "POST / 127.0.0.1{0123456789}");
}

TEST(HttpServer, SendsContinueToAClientThatExpectsIt) {
  RunningServer server;
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.read().status, 100U);
  client.send("ab");
  EXPECT_EQ(client.read().body, "POST / 127.0.0.1{ab}");
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  RunningServer server;
  Client client(server.port());
  client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(client.read(true).has("Content-Length: 19"));
  EXPECT_EQ(client.ask("/b").body, "GET /b 127.0.0.1{}");
}

TEST(HttpServer, ClosesHttp10ConnectionsUnlessKeepAliveIsRequested) {
  RunningServer server;
  Client once(server.port());
  once.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(once.read().has("Connection: close"));
  EXPECT_TRUE(once.is_closed());
  Client kept(server.port());
  for (int i = 0; i < 3; ++i) {
    kept.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_TRUE(kept.read().has("Connection: keep-alive"));
  }
}

TEST(HttpServer, RejectsMalformedRequestsWithAReasonAndCloses) {
  RunningServer server;
  for (const Malformed& malformed : kMalformedRequests) {
    Client client(server.port());
    client.send(std::string(malformed.bytes) + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    const Answer answer = client.read();
    EXPECT_EQ(answer.status, malformed.status) << malformed.what;
    EXPECT_TRUE(answer.has("Content-Type: application/problem+json")) << malformed.what;
    EXPECT_TRUE(answer.has("Connection: close")) << malformed.what;
    EXPECT_TRUE(client.is_closed()) << malformed.what;
  }
  EXPECT_EQ(server.statistics().requests, 0U);
}

TEST(HttpServer, RejectsHeadersAndBodiesBeyondTheirLimits) {
  http::ServerOptions options;
  options.http.max_header_bytes = 4096;
  options.http.max_body_bytes = 10'000;
  RunningServer server(options);
  Client long_header(server.port());
  static_cast<void>(long_header.send_some("GET / HTTP/1.1\r\nX: " + std::string(1'000'000, 'x')));
  EXPECT_EQ(long_header.read().status, 431U);
  Client announced(server.port());
  announced.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10001\r\n\r\n");
  EXPECT_EQ(announced.read().status, 413U);
  Client sent(server.port());
  static_cast<void>(sent.send_some("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n" +
                                   std::string(500'000, 'x')));
  EXPECT_EQ(sent.read().status, 413U);
  Client expecting(server.port());
  expecting.send(
      "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10001\r\n\r\n");
  EXPECT_EQ(expecting.read().status, 413U);
}

TEST(HttpServer, AnswersAClientThatHasClosedItsSide) {
  RunningServer server;
  Client client(server.port());
  client.get("/a");
  client.get("/later");
  client.half_close();
  EXPECT_EQ(client.read().body, "GET /a 127.0.0.1{}");
  servers::wait_until("the request", [&] { return server.echo.waiting() == 1; });
  server.call([&] { server.echo.answer_all(); });
  EXPECT_EQ(client.read().body, "GET /later 127.0.0.1{}");
  EXPECT_TRUE(client.is_closed());
}

TEST(HttpServer, SurvivesClientsThatDisconnectBeforeTheirAnswer) {
  RunningServer server;
  for (std::size_t i = 0; i < 50; ++i) {
    Client client(server.port());
    client.get("/later");
    client.get("/later");
    servers::wait_until("the request", [&] { return server.echo.waiting() == i + 1; });
    if (i % 2 == 0) client.reset();
  }
  server.call([&] { server.echo.answer_all(); });
  servers::wait_until("all to be closed", [&] {
    server.call([&] { server.echo.answer_all(); });
    return server.statistics().open == 0;
  });
}

TEST(HttpServer, CanBeDestroyedWhileAnswersArePending) {
  RunningServer server;
  Client client(server.port());
  client.get("/later");
  servers::wait_until("the request", [&] { return server.echo.waiting() == 1; });
  server.destroy();
  EXPECT_TRUE(client.is_closed());
  server.call([&] { server.echo.answer_all(); });
}

}  // namespace
}  // namespace penstock::http_server
