#include "resp/reply_reader.hpp"

#include "resp/command.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::resp {
namespace {

// A reply in words, to compare.
std::string shown(const Value& value) {
  switch (value.type) {
    case Value::Type::Nil: return "nil";
    case Value::Type::Integer: return std::to_string(value.integer);
    case Value::Type::String: return "\"" + value.text + "\"";
    case Value::Type::Status: return "+" + value.text;
    case Value::Type::Error: return "-" + value.text;
    case Value::Type::Array: break;
  }
  std::string text = "[";
  for (const Value& element : value.elements) text += shown(element) + " ";
  return text + "]";
}

// All replies there are, and the error that ended them.
std::vector<std::string> drain(ReplyReader& reader) {
  std::vector<std::string> replies;
  while (true) {
    Result<std::optional<Value>> next = reader.next();
    if (!next) {
      replies.push_back("error: " + next.error().detail);
      return replies;
    }
    if (!next->has_value()) return replies;
    replies.push_back(shown(**next));
  }
}

std::vector<std::string> replies_of(std::string_view bytes, ReplyLimits limits = {}) {
  ReplyReader reader(limits);
  reader.feed(bytes);
  return drain(reader);
}

using Replies = std::vector<std::string>;

TEST(ReplyReader, ReadsEveryTypeOfReply) {
  EXPECT_EQ(replies_of("+OK\r\n-ERR no\r\n:-42\r\n$3\r\na\r\n\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n"),
            (Replies{"+OK", "-ERR no", "-42", "\"a\r\n\"", "\"\"", "nil", "nil", "[]"}));
  EXPECT_EQ(replies_of("*3\r\n:1\r\n*2\r\n$1\r\nx\r\n*1\r\n:2\r\n$-1\r\n"),
            (Replies{"[1 [\"x\" [2 ] ] nil ]"}));
}

TEST(ReplyReader, WaitsForTheRest) {
  ReplyReader reader;
  reader.feed("*2\r\n:1\r\n");
  EXPECT_EQ(drain(reader), Replies{});
  reader.feed(":2\r\n+O");
  EXPECT_EQ(drain(reader), (Replies{"[1 2 ]"}));
  reader.feed("K\r\n");
  EXPECT_EQ(drain(reader), (Replies{"+OK"}));
}

TEST(ReplyReader, ReadsALargeArrayWithoutLosingAnElement) {
  std::string bytes = "*10000\r\n";
  std::string expected = "[";
  for (int i = 0; i < 10'000; ++i) {
    bytes += "*1\r\n:" + std::to_string(i) + "\r\n";
    expected += "[" + std::to_string(i) + " ] ";
  }
  EXPECT_EQ(replies_of(bytes), (Replies{expected + "]"}));
}

TEST(ReplyReader, RejectsMalformedReplies) {
  for (const char* bytes :
       {"hello\r\n", "$x\r\n", "$-2\r\n", "*x\r\n", "*-2\r\n", ":1x\r\n", "$1\r\nabc\r\n", "%1\r\n",
        "*2147483648\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"}) {
    const Replies replies = replies_of(bytes);
    ASSERT_EQ(replies.size(), 1U) << bytes;
    EXPECT_EQ(replies[0].substr(0, 24), "error: unreadable reply:") << bytes;
  }
}

TEST(ReplyReader, StaysBrokenAfterAnError) {
  ReplyReader reader;
  reader.feed("?\r\n");
  EXPECT_FALSE(reader.next());
  reader.feed("+OK\r\n");
  const Result<std::optional<Value>> again = reader.next();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::Protocol);
}

TEST(ReplyReader, RejectsALongStringAsSoonAsItIsAnnounced) {
  const ReplyLimits limits{.bulk = 10, .line = 20, .elements = 4};
  EXPECT_EQ(replies_of("$11\r\n", limits), (Replies{"error: unreadable reply: string too long"}));
  EXPECT_EQ(replies_of("$11\r\nabcdefghijk\r\n", limits),
            (Replies{"error: unreadable reply: string too long"}));
  EXPECT_EQ(replies_of("*1\r\n$99999999999999999999999", limits),
            (Replies{"error: unreadable reply: string too long"}));
  EXPECT_EQ(replies_of("$10\r\nabcdefghij\r\n", limits), (Replies{"\"abcdefghij\""}));
}

TEST(ReplyReader, RejectsALineWithoutEnd) {
  const ReplyLimits limits{.bulk = 10, .line = 20, .elements = 4};
  const Replies refused{"error: unreadable reply: line too long"};
  EXPECT_EQ(replies_of("+" + std::string(21, 'x'), limits), refused);
  EXPECT_EQ(replies_of("-" + std::string(21, 'x') + "\r\n", limits), refused);
}

TEST(ReplyReader, ALineOfTheGreatestLengthMayArriveInPortions) {
  const std::string line(20, 'x');
  ReplyReader reader(ReplyLimits{.bulk = 10, .line = 20, .elements = 4});
  reader.feed("+" + line + "\r");
  Result<std::optional<Value>> reply = reader.next();
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->has_value());
  reader.feed("\n");
  reply = reader.next();
  ASSERT_TRUE(reply);
  ASSERT_TRUE(reply->has_value());
  EXPECT_EQ((*reply)->text, line);
}

TEST(ReplyReader, RejectsMoreElementsThanAllowedAcrossAllLevels) {
  const ReplyLimits limits{.bulk = 10, .line = 20, .elements = 4};
  const Replies refused{"error: unreadable reply: too many elements"};
  EXPECT_EQ(replies_of("*5\r\n", limits), refused);
  EXPECT_EQ(replies_of("*2\r\n*2\r\n:1\r\n:1\r\n*1\r\n", limits), refused);
  EXPECT_EQ(replies_of("*2\r\n:1\r\n:1\r\n*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n", limits),
            (Replies{"[1 1 ]", "[1 1 1 1 ]"}));
}

// Random replies as a server would write them.
std::string some_reply(int depth) {
  switch (*rc::gen::inRange(0, depth < 6 ? 6 : 5)) {
    case 0: return "+" + *rc::gen::container<std::string>(rc::gen::inRange('a', 'z')) + "\r\n";
    case 1: return "-ERR " + *rc::gen::container<std::string>(rc::gen::inRange('a', 'z')) + "\r\n";
    case 2: return ":" + std::to_string(*rc::gen::arbitrary<std::int64_t>()) + "\r\n";
    case 3: return *rc::gen::element<std::string>("$-1\r\n", "*-1\r\n");
    case 4: {
      const auto text = *rc::gen::arbitrary<std::string>();
      return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    }
    default: break;
  }
  const int size = *rc::gen::inRange(0, 4);
  std::string bytes = "*" + std::to_string(size) + "\r\n";
  for (int i = 0; i < size; ++i) bytes += some_reply(depth + 1);
  return bytes;
}

Replies replies_in_portions(std::string_view bytes) {
  ReplyReader reader;
  Replies replies;
  while (!bytes.empty()) {
    const auto portion = *rc::gen::inRange<std::size_t>(1, bytes.size() + 1);
    reader.feed(bytes.substr(0, portion));
    bytes.remove_prefix(portion);
    for (std::string& reply : drain(reader)) {
      replies.push_back(reply);
      if (reply.starts_with("error: ")) return replies;
    }
  }
  return replies;
}

RC_GTEST_PROP(ReplyReader, AnySplitOfTheBytesReadsAlike, ()) {
  std::string bytes;
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) bytes += some_reply(0);
  const Replies whole = replies_of(bytes);
  RC_ASSERT(whole.size() == static_cast<std::size_t>(count));
  RC_ASSERT(replies_in_portions(bytes) == whole);
}

RC_GTEST_PROP(ReplyReader, AnySplitOfDamagedBytesReadsAlike, ()) {
  std::string bytes = some_reply(0) + some_reply(0);
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = *rc::gen::element('\r', '\n', '$', '*', ':', '+', '-', '0', '9', 'x', '\0');
  RC_ASSERT(replies_in_portions(bytes) == replies_of(bytes));
}

TEST(Command, IsWrittenAsAnArrayOfStrings) {
  EXPECT_EQ(command({"SET", "key", ""}), "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n");
  EXPECT_EQ(CommandWriter(2).add("INCR").add_number(-7).take(), "*2\r\n$4\r\nINCR\r\n$2\r\n-7\r\n");
}

}  // namespace
}  // namespace penstock::resp
