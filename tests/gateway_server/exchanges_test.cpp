// The gateway with misbehaving clients and upstream servers.
#include "gateway_server/running_gateway.hpp"
#include "gateway_server/scripted_upstream.hpp"
#include "http_server/client.hpp"
#include "http_server/malformed_requests.hpp"
#include "servers/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

namespace penstock::gateway_server {
namespace {

using http_server::Answer;
using http_server::Client;

std::string configuration(std::uint16_t port, const std::string& gateway = "",
                          const std::string& upstream = "") {
  return "server: {headers: [x-ratelimit]}\ngateway:\n  listen: 127.0.0.1:1\n" + gateway +
         "  upstreams: {app: {servers: \"http://127.0.0.1:" + std::to_string(port) + "\"" +
         (upstream.empty() ? "" : ", " + upstream) +
         "}}\n  routes: [{upstream: app}]\n"
         "domains:\n  default:\n    rules:\n"
         "      - {name: few, when: {path: /few}, limit: 1/day}\n";
}

// Responds with the head and body of the request.
void echo(ServerSideConnection& talk) {
  while (true) {
    std::string head = talk.read_head();
    if (head.empty()) return;
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t length = head.find(kLength);
    if (length != std::string::npos) {
      head += talk.read(std::stoul(head.substr(length + kLength.size())));
    }
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(head.size()) + "\r\n\r\n" +
              head);
  }
}

TEST(Gateway, RejectsAmbiguousRequestsWithoutForwarding) {
  std::atomic<int> odd = 0;
  ScriptedUpstream upstream([&](ServerSideConnection& talk) {
    const std::string head = talk.read_head();
    if (!head.empty()) ++odd;
    static_cast<void>(talk.read_to_end());
  });
  RunningGateway gateway(configuration(upstream.port()));
  for (const http_server::Malformed& malformed : http_server::kMalformedRequests) {
    if (malformed.bytes.starts_with("PRI ")) continue;  // the HTTP/2 preface
    Client client(gateway.port());
    client.send(malformed.bytes);
    client.send("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    client.half_close();
    const std::string answer = client.read_to_end();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(malformed.status) + " "))
        << malformed.what << ": " << answer;
    EXPECT_EQ(answer.find("Connection: close\r\n"), answer.rfind("Connection: close\r\n"))
        << answer;
    EXPECT_TRUE(answer.ends_with("}\n"))
        << malformed.what << ": " << answer;  // no further response
  }
  EXPECT_EQ(odd, 0);
}

TEST(Gateway, AnswersPipelinedRequestsInOrder) {
  ScriptedUpstream upstream(echo);
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    bytes += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  }
  client.send(bytes);
  for (int i = 0; i < 50; ++i) {
    const Answer answer = client.read();
    EXPECT_EQ(answer.status, 200U);
    EXPECT_TRUE(answer.body.starts_with("POST /" + std::to_string(i) + " ")) << answer.body;
    EXPECT_TRUE(answer.body.ends_with("\r\n\r\nabc"));
  }
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Gateway, DeniedRequestsNeverTouchTheUpstream) {
  ScriptedUpstream upstream(echo);
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  EXPECT_EQ(client.ask("/few").status, 200U);
  const Answer denied = client.ask("/few");
  EXPECT_EQ(denied.status, 429U);
  EXPECT_TRUE(denied.has("Content-Type: application/problem+json"));
  EXPECT_TRUE(denied.has("X-RateLimit-Remaining: 0"));
  EXPECT_EQ(client.ask("/many").status, 200U);  // the connection stays open
  servers::wait_until("permits to be released",
                      [&] { return gateway.in_flight().to_upstream("app") == 0; });
}

TEST(Gateway, AbortsAResponseTheServerDoesNotFinish) {
  for (const std::string_view head :
       {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nnonsense"}) {
    ScriptedUpstream upstream([&](ServerSideConnection& talk) {
      static_cast<void>(talk.read_head());
      talk.send(head);
      talk.close();
    });
    RunningGateway gateway(configuration(upstream.port()));
    Client client(gateway.port());
    client.get("/");
    const std::string answer = client.read_to_end();
    EXPECT_NE(answer.find("abc"), std::string::npos);
    EXPECT_FALSE(answer.ends_with("0\r\n\r\n")) << answer;
  }
}

TEST(Gateway, ForwardsABodyDelimitedByClose) {
  ScriptedUpstream upstream([](ServerSideConnection& talk) {
    static_cast<void>(talk.read_head());
    talk.send("HTTP/1.0 200 OK\r\n\r\nabc");
    talk.close();
  });
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  client.get("/", "Connection: close\r\n");
  EXPECT_TRUE(client.read_to_end().ends_with("3\r\nabc\r\n0\r\n\r\n"));
  Client old(gateway.port());
  old.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.read_to_end().ends_with("\r\n\r\nabc"));
}

TEST(Gateway, SlowClientsApplyBackPressureToTheServer) {
  std::promise<std::size_t> sent;
  ScriptedUpstream upstream([&](ServerSideConnection& talk) {
    static_cast<void>(talk.read_head());
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
    sent.set_value(talk.send_without_blocking(1'000'000'000));
  });
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  client.get("/");
  // The buffers of four sockets plus two of 16 KiB.
  EXPECT_LT(sent.get_future().get(), 32'000'000U);
}

TEST(Gateway, SlowServersApplyBackPressureToTheClient) {
  std::promise<void> done;
  ScriptedUpstream upstream([&](ServerSideConnection& talk) {
    static_cast<void>(talk.read_head());
    done.get_future().wait();
  });
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
  const std::string part(65536, 'x');
  std::size_t total = 0;
  for (int quiet = 0; quiet < 20 && total < 1'000'000'000;) {
    const std::size_t size = client.send_some(part);
    total += size;
    quiet = size == 0 ? quiet + 1 : 0;
    if (size == 0) wait_briefly();
  }
  EXPECT_LT(total, 32'000'000U);
  done.set_value();
}

TEST(Gateway, ForwardsInterimResponses) {
  ScriptedUpstream upstream([](ServerSideConnection& talk) {
    const std::string head = talk.read_head();
    EXPECT_NE(head.find("Expect: 100-continue\r\n"), std::string::npos);
    talk.send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(talk.read(3), "abc");
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  const Answer hints = client.read();
  EXPECT_EQ(hints.status, 103U);
  EXPECT_TRUE(hints.has("Link: a"));
  EXPECT_EQ(client.read().status, 100U);
  client.send("abc");
  EXPECT_EQ(client.read().body, "ok");
}

TEST(Gateway, TunnelsUpgradedConnectionsAndHalfCloses) {
  ScriptedUpstream upstream([](ServerSideConnection& talk) {
    const std::string head = talk.read_head();
    EXPECT_NE(head.find("Upgrade: chat\r\n"), std::string::npos);
    talk.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\nhi");
    const std::string all = talk.read_to_end();
    talk.send("you said " + all);
  });
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  client.get("/", "Connection: Upgrade\r\nUpgrade: chat\r\n");
  EXPECT_EQ(client.read().status, 101U);
  client.send("hello");
  client.half_close();
  EXPECT_EQ(client.read_to_end(), "hiyou said hello");
}

TEST(Gateway, RelaysAResponseSentBeforeTheRequestWasRead) {
  ScriptedUpstream upstream([](ServerSideConnection& talk) {
    static_cast<void>(talk.read_head());
    talk.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    static_cast<void>(talk.read(1'000));
  });
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
  const Answer answer = client.read();
  EXPECT_EQ(answer.status, 413U);
  EXPECT_TRUE(answer.has("Connection: close"));
}

TEST(Gateway, AnswersSlowClientsWith408) {
  ScriptedUpstream upstream(
      [](ServerSideConnection& talk) { static_cast<void>(talk.read_to_end()); });
  RunningGateway gateway(
      configuration(upstream.port(), "  header_timeout: 50ms\n  body_timeout: 50ms\n"));
  Client header(gateway.port());
  header.send("GET / HTTP/1.1\r\nHo");
  EXPECT_EQ(header.read().status, 408U);
  Client body(gateway.port());
  body.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_EQ(body.read().status, 408U);
  servers::wait_until("permits to be released",
                      [&] { return gateway.in_flight().to_upstream("app") == 0; });
}

TEST(Gateway, AReloadMovesTheNextRequestOfAnOpenConnectionToAnotherUpstream) {
  ScriptedUpstream before(echo);
  ScriptedUpstream after(echo);
  RunningGateway gateway(configuration(before.port()));
  Client client(gateway.port());
  EXPECT_EQ(client.ask("/").status, 200U);
  ASSERT_TRUE(gateway.reload(configuration(after.port())));
  EXPECT_EQ(client.ask("/").status, 200U);
  EXPECT_EQ(before.connections(), 1U);
  EXPECT_EQ(after.connections(), 1U);
}

TEST(Gateway, AReloadKeepsConnectionsToAnUpstreamThatHasNotChanged) {
  ScriptedUpstream upstream(echo);
  RunningGateway gateway(configuration(upstream.port()));
  Client client(gateway.port());
  EXPECT_EQ(client.ask("/").status, 200U);
  ASSERT_TRUE(gateway.reload(configuration(upstream.port(), "  idle_timeout: 3s\n")));
  EXPECT_EQ(client.ask("/").status, 200U);
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Gateway, ARequestInFlightEndsOnTheUpstreamThatAReloadRemoves) {
  std::promise<void> answer;
  std::promise<void> arrived;
  ScriptedUpstream before([&](ServerSideConnection& talk) {
    static_cast<void>(talk.read_head());
    arrived.set_value();
    answer.get_future().wait();
    talk.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold");
    EXPECT_EQ(talk.read_head(), "");  // the gateway does not keep this connection
  });
  ScriptedUpstream after(echo);
  RunningGateway gateway(configuration(before.port()));
  Client client(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  arrived.get_future().wait();
  ASSERT_TRUE(gateway.reload(configuration(after.port())));
  answer.set_value();
  EXPECT_EQ(client.read().body, "old");
  EXPECT_TRUE(client.ask("/new").body.starts_with("GET /new "));
}

TEST(Gateway, AResponseOfARemovedUpstreamStillTimesOut) {
  std::promise<void> arrived;
  ScriptedUpstream before([&](ServerSideConnection& talk) {
    static_cast<void>(talk.read_head());
    arrived.set_value();
    static_cast<void>(talk.read_to_end());
  });
  RunningGateway gateway(configuration(before.port(), "", "first_byte_timeout: 300ms"));
  Client client(gateway.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  arrived.get_future().wait();
  ASSERT_TRUE(gateway.reload(configuration(1)));
  EXPECT_EQ(client.read().status, 504U);
}

TEST(Gateway, AReloadThatCannotBeAppliedChangesNothing) {
  ScriptedUpstream upstream(echo);
  RunningGateway gateway(configuration(upstream.port()));
  const Result<void> reloaded = gateway.reload(
      configuration(1, "  access_log: {format: json, path: /nonexistent/access.log}\n"));
  ASSERT_FALSE(reloaded);
  EXPECT_EQ(reloaded.error().detail, "access_log: /nonexistent/access.log cannot be written");
  Client client(gateway.port());
  EXPECT_EQ(client.ask("/").status, 200U);
}

}  // namespace
}  // namespace penstock::gateway_server
