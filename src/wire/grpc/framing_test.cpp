#include "wire/grpc/message_reader.hpp"
#include "wire/grpc/protocol.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::wire::grpc {
namespace {

using Progress = MessageReader::Progress;

std::string in_frame(std::string_view message, char flag = 0) {
  std::string bytes(kPrefix, '\0');
  write_prefix(bytes.data(), static_cast<std::uint32_t>(message.size()));
  bytes[0] = flag;
  return bytes += message;
}

RC_GTEST_PROP(MessageReader, AnySplitReadsTheSameMessages, ()) {
  const auto messages =
      *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
  std::string bytes;
  for (const std::string& message : messages) bytes += in_frame(message);
  MessageReader reader;
  reader.begin(1'000'000);
  std::vector<std::string> read;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, rest.size() + 1);
    reader.add(rest.substr(0, size));
    rest.remove_prefix(size);
    while (reader.peek() == Progress::Message) {
      read.emplace_back(reader.message());
      reader.pop();
    }
  }
  RC_ASSERT(read == messages);
  RC_ASSERT(reader.is_empty());
}

// The client always sends one byte of its next message as well.
TEST(MessageReader, FreesMessagesThatWereRead) {
  const std::string message = in_frame(std::string(1000, 'x'));
  MessageReader reader;
  reader.begin(1'000'000);
  reader.add(message.substr(0, 1));
  for (int i = 0; i < 1000; ++i) {
    reader.add(message.substr(1) + message.substr(0, 1));
    ASSERT_EQ(reader.peek(), Progress::Message);
    reader.pop();
    ASSERT_LE(reader.held(), 10'000U);
  }
}

TEST(MessageReader, ReportsMessagesItCannotRead) {
  struct Row {
    std::string bytes;
    Progress progress;
  };
  for (const Row& row :
       {Row{"", Progress::NeedMore}, Row{std::string(4, '\0'), Progress::NeedMore},
        Row{in_frame("12345678"), Progress::Message},
        Row{in_frame("123456789"), Progress::TooLarge},
        Row{in_frame("123456789").substr(0, 5), Progress::TooLarge},
        Row{in_frame("1", 1), Progress::Compressed},
        Row{in_frame("123456789", 1), Progress::TooLarge}, Row{"\x02", Progress::Malformed}}) {
    MessageReader reader;
    reader.begin(8);
    reader.add(row.bytes);
    EXPECT_EQ(reader.peek(), row.progress) << row.bytes;
  }
}

TEST(MessageReader, ReadsCompressedMessagesWhereTheCallMayHaveThem) {
  MessageReader reader;
  reader.begin(8, MessageReader::Compression::Accepted);
  reader.add(in_frame("1234", 1) + in_frame("5"));
  ASSERT_EQ(reader.peek(), Progress::Message);
  EXPECT_TRUE(reader.is_compressed());
  reader.pop();
  ASSERT_EQ(reader.peek(), Progress::Message);
  EXPECT_FALSE(reader.is_compressed());
}

TEST(Encoding, IsThatOfGrpcEncoding) {
  EXPECT_EQ(parse_encoding(""), Encoding::Identity);
  EXPECT_EQ(parse_encoding("identity"), Encoding::Identity);
  EXPECT_EQ(parse_encoding("gzip"), Encoding::Gzip);
  EXPECT_EQ(parse_encoding("deflate"), Encoding::Unknown);
}

TEST(MessageReader, KnowsWhetherMoreFollows) {
  MessageReader reader;
  reader.begin(8);
  reader.add(in_frame("1"));
  EXPECT_FALSE(reader.has_more());
  EXPECT_FALSE(reader.is_empty());
  reader.add(std::string(1, '\0'));
  EXPECT_TRUE(reader.has_more());
  reader.pop();
  EXPECT_FALSE(reader.is_empty());
  reader.begin(8);
  EXPECT_TRUE(reader.is_empty());
}

TEST(GrpcTimeout, HasAnAmountAndAUnit) {
  using namespace std::chrono_literals;
  struct Row {
    std::string_view text;
    std::optional<Duration> timeout;
  };
  for (const Row& row : std::vector<Row>{{"20m", 20ms},
                                         {"1H", 1h},
                                         {"5M", 5min},
                                         {"99999999S", 99'999'999s},
                                         {"7u", 7us},
                                         {"1n", 1us},
                                         {"1001n", 2us},
                                         {"0m", 0ms},
                                         {"", {}},
                                         {"m", {}},
                                         {"1", {}},
                                         {"-1m", {}},
                                         {"1 m", {}},
                                         {"1x", {}},
                                         {"123456789m", {}},
                                         {"1.5S", {}}}) {
    EXPECT_EQ(parse_timeout(row.text), row.timeout) << row.text;
  }
}

TEST(GrpcStatus, MessageIsPercentEncoded) {
  EXPECT_EQ(percent_encoded("plain text: 'x'"), "plain text: 'x'");
  EXPECT_EQ(percent_encoded("50%\n\xC3\xA9\x7F"), "50%25%0A%C3%A9%7F");
}

TEST(GrpcMethod, ContentTypesAreThoseOfProtobuf) {
  for (const std::string_view type : {"application/grpc", "application/grpc+proto",
                                      "application/grpc;x=1", "application/grpc ;x"}) {
    EXPECT_TRUE(is_grpc_type(type)) << type;
  }
  for (const std::string_view type : {"", "application/json", "application/grpc+json",
                                      "application/grpc-web", "application/grp"}) {
    EXPECT_FALSE(is_grpc_type(type)) << type;
  }
}

}  // namespace
}  // namespace penstock::wire::grpc
