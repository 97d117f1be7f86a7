#include "redis/handshake.hpp"

#include "resp/command.hpp"

#include <gtest/gtest.h>

#include <array>

namespace penstock::redis {
namespace {

using Type = resp::Value::Type;

const resp::Value kOk{.type = Type::Status, .text = "OK"};

resp::Value error(std::string text) { return {.type = Type::Error, .text = std::move(text)}; }
resp::Value role(std::string name) {
  return {.type = Type::Array, .elements = {{.type = Type::String, .text = std::move(name)}}};
}

// The error for the reply to the only command of a handshake.
Error rejection(Handshake handshake, const resp::Value& reply) {
  const Result<void> judged = handshake.on_reply(reply);
  EXPECT_TRUE(handshake.is_done());
  return judged ? Error{ErrorCode::InvalidInput, "not rejected"} : judged.error();
}

TEST(Handshake, SendsNothingWhenNothingIsConfigured) {
  Handshake handshake({}, RoleCheck::None, {});
  EXPECT_EQ(handshake.take_bytes(), "");
  EXPECT_TRUE(handshake.is_done());
}

TEST(Handshake, SendsThePasswordAloneAndPipelinesTheRest) {
  const Script script = Script::from("return 1");
  const std::array<const Script*, 1> scripts{&script};
  const Login login{.user = "u", .password = "p", .database = 3, .client_name = "penstock"};
  Handshake handshake(login, RoleCheck::Strict, scripts);
  EXPECT_EQ(handshake.take_bytes(), resp::command({"AUTH", "u", "p"}));
  EXPECT_EQ(handshake.take_bytes(), "");
  EXPECT_TRUE(handshake.on_reply(kOk));
  EXPECT_EQ(handshake.take_bytes(),
            resp::command({"SELECT", "3"}) + resp::command({"CLIENT", "SETNAME", "penstock"}) +
                resp::command({"ROLE"}) + resp::command({"SCRIPT", "LOAD", "return 1"}));
  const resp::Value sha{.type = Type::String, .text = script.sha1};
  for (const resp::Value& reply : {kOk, kOk, role("master"), sha}) {
    EXPECT_FALSE(handshake.is_done());
    EXPECT_TRUE(handshake.on_reply(reply));
    EXPECT_EQ(handshake.take_bytes(), "");
  }
  EXPECT_TRUE(handshake.is_done());
}

TEST(Handshake, APasswordAloneNeedsNoUser) {
  Handshake handshake({.password = "p"}, RoleCheck::None, {});
  EXPECT_EQ(handshake.take_bytes(), resp::command({"AUTH", "p"}));
}

TEST(Handshake, AWrongPasswordIsMisconfiguredAndNotRepeated) {
  const Error why = rejection(Handshake({.password = "secret"}, RoleCheck::None, {}),
                              error("WRONGPASS invalid username-password pair"));
  EXPECT_EQ(why.code, ErrorCode::Misconfigured);
  EXPECT_EQ(why.detail, "rejects AUTH: WRONGPASS invalid username-password pair");
}

TEST(Handshake, AServerThatIsLoadingMayBeReadyLater) {
  const Error why = rejection(Handshake({.database = 1}, RoleCheck::None, {}),
                              error("LOADING Redis is loading the dataset in memory"));
  EXPECT_EQ(why.code, ErrorCode::Unavailable);
}

TEST(Handshake, AMissingDatabaseIsMisconfigured) {
  const Error why = rejection(Handshake({.database = 99}, RoleCheck::None, {}),
                              error("ERR DB index is out of range"));
  EXPECT_EQ(why.code, ErrorCode::Misconfigured);
}

TEST(Handshake, AReplicaIsRejected) {
  for (const RoleCheck check : {RoleCheck::Lenient, RoleCheck::Strict}) {
    const Error why = rejection(Handshake({}, check, {}), role("slave"));
    EXPECT_EQ(why, (Error{ErrorCode::Unavailable, "is not a master but \"slave\""}));
  }
}

TEST(Handshake, OnlyAStrictCheckRequiresRole) {
  const resp::Value unknown = error("ERR unknown command 'ROLE'");
  Handshake lenient({}, RoleCheck::Lenient, {});
  EXPECT_TRUE(lenient.on_reply(unknown));
  EXPECT_EQ(rejection(Handshake({}, RoleCheck::Strict, {}), unknown).code,
            ErrorCode::Misconfigured);
}

TEST(Handshake, AnErrorBeforeTheHandshakeIsNotTheReplyToACommand) {
  for (const char* text : {"ERR max number of clients reached",
                           "DENIED Redis is running in protected mode because …"}) {
    const Error why = rejection(Handshake({.client_name = "x"}, RoleCheck::None, {}), error(text));
    EXPECT_EQ(why,
              (Error{ErrorCode::Misconfigured, "rejects the connection: " + std::string(text)}));
  }
}

TEST(Handshake, AFailedSetNameIsIgnored) {
  Handshake handshake({.client_name = "x"}, RoleCheck::None, {});
  EXPECT_TRUE(handshake.on_reply(error("NOPERM no")));
}

}  // namespace
}  // namespace penstock::redis
