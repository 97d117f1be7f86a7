#include "redis/subscription.hpp"
#include "resp/reply_reader.hpp"

#include <gtest/gtest.h>

namespace penstock::redis {
namespace {

PushMessage read(std::string_view bytes) {
  resp::ReplyReader reader;
  reader.feed(bytes);
  return read_push(reader.next().value().value());
}

TEST(PushMessage, HasThePublishedPayload) {
  const PushMessage push = read("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\nkey\r\n");
  EXPECT_EQ(push.kind, PushMessage::Kind::Message);
  EXPECT_EQ(push.payload, "key");
}

TEST(PushMessage, ReportsTheSubscription) {
  EXPECT_EQ(read("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n").kind, PushMessage::Kind::Subscribed);
}

TEST(PushMessage, AnythingElseIsOther) {
  for (const std::string_view bytes :
       {"*2\r\n$4\r\npong\r\n$0\r\n\r\n", "+PONG\r\n", "*0\r\n", ":1\r\n",
        "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nc\r\n$3\r\nkey\r\n"}) {
    EXPECT_EQ(read(bytes).kind, PushMessage::Kind::Other) << bytes;
  }
}

}  // namespace
}  // namespace penstock::redis
