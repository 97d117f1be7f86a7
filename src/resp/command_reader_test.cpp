#include "resp/command_reader.hpp"

#include "resp/command.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::resp {
namespace {

using Words = std::vector<std::string>;
using Commands = std::vector<Words>;
using Progress = CommandReader::Progress;

struct Read {
  Commands commands{};
  std::string error{};

  friend bool operator==(const Read&, const Read&) = default;
};

// Reads bytes in portions of these sizes, repeated.
Read read(std::string_view bytes, const std::vector<std::size_t>& portions,
          CommandLimits limits = {}) {
  CommandReader reader(limits);
  Read result;
  std::size_t turn = 0;
  while (!bytes.empty() && result.error.empty()) {
    const std::span<char> room = reader.prepare();
    const std::size_t portion =
        portions.empty() ? bytes.size() : portions[turn++ % portions.size()];
    const std::size_t size = std::min({room.size(), portion, bytes.size()});
    std::memcpy(room.data(), bytes.data(), size);
    reader.commit(size);
    bytes.remove_prefix(size);
    Progress progress = reader.next();
    for (; progress == Progress::Ready; progress = reader.next()) {
      const auto words = reader.words();
      result.commands.emplace_back(words.begin(), words.end());
    }
    if (progress == Progress::Broken) result.error = reader.error();
  }
  return result;
}

Read read_all(std::string_view bytes, CommandLimits limits = {}) { return read(bytes, {}, limits); }

std::string encoded(const Words& words) {
  CommandWriter writer(words.size());
  for (const std::string& word : words) writer.add(word);
  return std::move(writer).take();
}

std::vector<std::size_t> any_portions() {
  return *rc::gen::nonEmpty(rc::gen::container<std::vector<std::size_t>>(
      rc::gen::element<std::size_t>(1, 1, 2, 3, 7, 50, 4'000, 20'000)));
}

RC_GTEST_PROP(CommandReader, ReadsWhatWasWrittenInAnyPortions, ()) {
  const auto commands = *rc::gen::container<Commands>(
      rc::gen::nonEmpty(rc::gen::container<Words>(rc::gen::arbitrary<std::string>())));
  std::string bytes;
  for (const Words& command : commands) bytes += encoded(command);
  RC_ASSERT(read(bytes, any_portions()) == (Read{.commands = commands}));
}

RC_GTEST_PROP(CommandReader, ReadsAnyBytesAlikeHoweverTheyArePortioned, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "*", "$", "1", "2", "3", "-1", "\r\n", "\n", "\r", "PING", " ", "\"", "'", "\\", "\\x41",
      "*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n", "$1\r\na\r\n", "*0\r\n", std::string(70, '9'),
      std::string(1, '\0')));
  std::string bytes;
  for (const std::string& piece : pieces) bytes += piece;
  RC_ASSERT(read(bytes, any_portions()) == read_all(bytes));
}

TEST(CommandReader, ReadsLongCommandsThroughASmallRoom) {
  const Words words{"SET", std::string(300'000, 'x'), std::string(500'000, 'y')};
  EXPECT_EQ(read(encoded(words), {1'000}).commands, Commands{words});
  EXPECT_EQ(read(encoded(words) + encoded({"PING"}), {}).commands,
            (Commands{words, Words{"PING"}}));
}

TEST(CommandReader, IgnoresEmptyCommands) {
  EXPECT_EQ(read_all("*0\r\n*-1\r\n\r\n  \r\n*1\r\n$4\r\nPING\r\n").commands,
            (Commands{Words{"PING"}}));
}

TEST(CommandReader, ReadsLinesAsPeopleTypeThem) {
  EXPECT_EQ(read_all("PING\r\n").commands, (Commands{Words{"PING"}}));
  EXPECT_EQ(read_all("  set  a\tb \n").commands, (Commands{Words{"set", "a", "b"}}));
  EXPECT_EQ(read_all("set \"a b\" 'c d'\r\n").commands, (Commands{Words{"set", "a b", "c d"}}));
  EXPECT_EQ(read_all(R"(echo "a\n\t\"\x41\x4")"
                     "\r\n")
                .commands,
            (Commands{Words{"echo", "a\n\t\"Ax4"}}));
  EXPECT_EQ(read_all("echo 'it\\'s \\n'\r\n").commands, (Commands{Words{"echo", "it's \\n"}}));
  EXPECT_EQ(read_all("echo pre\"fix\" \"\"\r\n").commands, (Commands{Words{"echo", "prefix", ""}}));
}

TEST(CommandReader, RejectsUnbalancedQuotes) {
  const std::string refusal = "Protocol error: unbalanced quotes in request";
  for (const char* line :
       {"get \"a", "get 'a", "get \"a\"b", "get 'a'b", "get \"a\\", "get '\\'"}) {
    EXPECT_EQ(read_all(std::string(line) + "\r\n").error, refusal) << line;
  }
}

TEST(CommandReader, ReportsErrorsAsRedisDoes) {
  const auto error = [](std::string_view bytes) { return read_all(bytes).error; };
  EXPECT_EQ(error("*x\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(error("*1025\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(error("*99999999999999999999\r\n"), "Protocol error: invalid multibulk length");
  EXPECT_EQ(error("*1\r\n:1\r\n"), "Protocol error: expected '$', got ':'");
  EXPECT_EQ(error("*1\r\n*1\r\n"), "Protocol error: expected '$', got '*'");
  EXPECT_EQ(error("*1\r\n$x\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(error("*1\r\n$-1\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(error("*1\r\n$1048577\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(error("*1\r\n$99999999999999999999\r\n"), "Protocol error: invalid bulk length");
  EXPECT_EQ(error("*1\r\n$4\r\nPINGPING\r\n"),
            "Protocol error: a string is not as long as it says");
  EXPECT_EQ(error("*" + std::string(100, '1')), "Protocol error: too big mbulk count string");
  EXPECT_EQ(error("*1\r\n$" + std::string(100, '1')), "Protocol error: too big bulk count string");
  EXPECT_EQ(error(std::string(70'000, 'a')), "Protocol error: too big inline request");
}

TEST(CommandReader, GivesTheCommandsBeforeAnError) {
  const Read result = read_all("PING\r\n*1\r\n$x\r\n");
  EXPECT_EQ(result.commands, (Commands{Words{"PING"}}));
  EXPECT_EQ(result.error, "Protocol error: invalid bulk length");
}

TEST(CommandReader, HoldsNoMoreThanOneCommandMayHave) {
  const CommandLimits limits{.bytes = 10'000, .words = 100};
  const Words large{std::string(6'000, 'a'), std::string(6'000, 'b')};
  EXPECT_EQ(read_all(encoded(large), limits).error,
            "Protocol error: too big request: more than 10000 bytes");
  EXPECT_EQ(read_all(encoded(Words(101, "a")), limits).error,
            "Protocol error: invalid multibulk length");

  CommandReader reader(limits);
  std::string flood = "*100\r\n";
  for (int i = 0; i < 100; ++i) flood += "$90\r\n" + std::string(90, 'x') + "\r\n";
  for (std::string_view left = flood; !left.empty();) {
    const std::span<char> room = reader.prepare();
    const std::size_t size = std::min(room.size(), left.size());
    std::memcpy(room.data(), left.data(), size);
    reader.commit(size);
    left.remove_prefix(size);
    while (reader.next() == Progress::Ready) {
    }
    EXPECT_LE(reader.capacity(), 2 * limits.bytes + 4096);
  }
}

TEST(CommandReader, DoesNotAllocateForAnnouncedLengths) {
  CommandReader reader;
  const std::string_view announced = "*2\r\n$1000000\r\n";
  std::memcpy(reader.prepare().data(), announced.data(), announced.size());
  reader.commit(announced.size());
  EXPECT_EQ(reader.next(), Progress::NeedMore);
  static_cast<void>(reader.prepare());
  EXPECT_LE(reader.capacity(), 16'384U);
}

TEST(CommandReader, KnowsWhetherACommandHasBegun) {
  CommandReader reader;
  EXPECT_FALSE(reader.is_within_command());
  const std::string_view half = "PING\r\n*1\r\n";
  std::memcpy(reader.prepare().data(), half.data(), half.size());
  reader.commit(half.size());
  EXPECT_EQ(reader.next(), Progress::Ready);
  EXPECT_EQ(reader.next(), Progress::NeedMore);
  EXPECT_TRUE(reader.is_within_command());
}

}  // namespace
}  // namespace penstock::resp
