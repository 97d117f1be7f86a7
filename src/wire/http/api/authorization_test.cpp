#include "wire/http/api/authorization.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::http {
namespace {

using rules::Token;

struct SentRequest {
  bool on_loopback = true;
  std::vector<Field> fields{};
  std::vector<Token> tokens{};
};

Request request_of(const SentRequest& asked) {
  Request request;
  request.fields = asked.fields;
  request.listens_on_loopback = asked.on_loopback;
  return request;
}

// The actor, or the status of the rejection.
std::string actor_or_status(Caller caller) {
  return caller.rejected ? std::to_string(caller.rejected->status) : std::move(caller.actor);
}
std::string may_write(const SentRequest& asked) {
  return actor_or_status(authorize_write(request_of(asked), asked.tokens));
}
std::string may_read(const SentRequest& asked) {
  return actor_or_status(authorize_read(request_of(asked), asked.tokens));
}

const std::vector<Token> kTokens{{.name = "alice", .secret = "a"}, {.name = "bob", .secret = "b"}};
const Field kBob{"Authorization", "Bearer b"};

TEST(Authorization, TheNameOfTheTokenIsTheActor) {
  for (const bool on_loopback : {false, true}) {
    EXPECT_EQ(may_write({on_loopback, {kBob}, kTokens}), "bob");
    EXPECT_EQ(may_read({on_loopback, {kBob}, kTokens}), "bob");
    EXPECT_EQ(may_write({on_loopback, {{"Authorization", "Bearer c"}}, kTokens}), "401");
    EXPECT_EQ(may_read({on_loopback, {{"Authorization", "Bearer c"}}, kTokens}), "401");
  }
}

TEST(Authorization, PublicListenersNeedAToken) {
  EXPECT_EQ(may_write({false, {}, kTokens}), "401");
  EXPECT_EQ(may_read({false, {{"Host", "127.0.0.1"}}, kTokens}), "401");
  EXPECT_EQ(may_write({false, {kBob}, {}}), "403");
  EXPECT_EQ(may_read({false, {kBob}, {}}), "403");
}

TEST(Authorization, OnLoopbackPagesOfOtherOriginsCannotWrite) {
  const auto from = [](std::string_view origin, std::string_view host) {
    return may_write({true, {{"Origin", origin}, {"Host", host}}, kTokens});
  };
  EXPECT_EQ(may_write({true, {}, {}}), "local");
  EXPECT_EQ(from("http://127.0.0.1:9090", "127.0.0.1:9090"), "local");
  EXPECT_EQ(from("http://localhost:9090", "localhost:9090"), "local");
  EXPECT_EQ(from("http://[::1]:9090", "[::1]:9090"), "local");
  EXPECT_EQ(from("http://127.0.0.1:8000", "127.0.0.1:9090"), "403");
  EXPECT_EQ(from("https://evil.example", "127.0.0.1:9090"), "403");
  EXPECT_EQ(from("null", "127.0.0.1:9090"), "403");
  EXPECT_EQ(from("http://evil.example:9090", "evil.example:9090"), "403") << "DNS rebinding";
  EXPECT_EQ(may_write({true, {{"Origin", "http://x"}, kBob}, kTokens}), "bob");
}

TEST(Authorization, OnLoopbackOnlyAddressesAndLocalhostCanBeReadWithoutAToken) {
  const auto of_host = [](std::string_view host) {
    return may_read({true, {{"Host", host}}, kTokens});
  };
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9090", "[::1]:9090", "localhost", "LOCALHOST:1"}) {
    EXPECT_EQ(of_host(host), "local") << host;
  }
  for (const char* host : {"evil.example", "evil.example:9090", "localhost.evil.example",
                           "127.0.0.1.evil.example", "[::1", "[evil]:1"}) {
    EXPECT_EQ(of_host(host), "403") << host;
  }
  EXPECT_EQ(may_read({true, {{"Host", "limits.example"}, kBob}, kTokens}), "bob");
}

}  // namespace
}  // namespace penstock::http
