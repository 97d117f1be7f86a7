#include "replay/input/line_reader.hpp"

#include "replay/input/gzip_source.hpp"
#include "replay/input/text_source.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace penstock::replay {
namespace {

// The lines, "<long>" for one that is too long, and "<error>" at the end.
std::vector<std::string> lines_of(std::unique_ptr<ByteSource> source) {
  LineReader reader(std::move(source));
  std::vector<std::string> lines;
  while (true) {
    const Result<LineReader::Line> line = reader.next();
    if (!line) {
      lines.push_back("<" + line.error().detail + ">");
      return lines;
    }
    if (line->is_end) return lines;
    EXPECT_EQ(line->number, lines.size() + 1);
    lines.push_back(line->is_too_long ? "<long>" : std::string(line->text));
  }
}

std::vector<std::string> lines_of(const std::string& text, std::size_t portion) {
  return lines_of(std::make_unique<TextSource>(text, portion));
}

std::string gzip(std::string text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = static_cast<Bytef*>(static_cast<void*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = static_cast<Bytef*>(static_cast<void*>(out.data()));
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::vector<std::string> unzipped_lines(const std::string& bytes, std::size_t portion) {
  return lines_of(std::make_unique<GzipSource>(std::make_unique<TextSource>(bytes, portion)));
}

using Lines = std::vector<std::string>;

TEST(LineReader, SplitsLinesWhateverTheReadsAre) {
  for (const std::size_t portion : {1U, 2U, 3U, 1000U}) {
    EXPECT_EQ(lines_of("a\nbb\r\n\nlast", portion), (Lines{"a", "bb", "", "last"}));
    EXPECT_EQ(lines_of("", portion), Lines{});
    EXPECT_EQ(lines_of(std::string("a\0b\n", 4), portion), Lines{std::string("a\0b", 3)});
  }
}

TEST(LineReader, SkipsALineThatIsTooLong) {
  const std::string most(LineReader::kMaxLine, 'x');
  for (const std::size_t portion : {std::size_t{100'000}, std::size_t{1} << 20U}) {
    EXPECT_EQ(lines_of("a\n" + most + "\nb\n", portion), (Lines{"a", most, "b"}));
    EXPECT_EQ(lines_of("a\n" + most + "x\nb\n", portion), (Lines{"a", "<long>", "b"}));
    EXPECT_EQ(lines_of(most + most + most, portion), Lines{"<long>"});
  }
}

TEST(GzipSource, InflatesAllMembersAndPassesOtherFilesOn) {
  const std::string zipped = gzip("a\nb") + gzip("c\nd\n");
  for (const std::size_t portion : {1U, 7U, 100'000U}) {
    EXPECT_EQ(unzipped_lines(zipped, portion), (Lines{"a", "bc", "d"}));
    EXPECT_EQ(unzipped_lines("a\nb\n", portion), (Lines{"a", "b"}));
    EXPECT_EQ(unzipped_lines("x", portion), Lines{"x"});
    EXPECT_EQ(unzipped_lines("", portion), Lines{});
  }
}

TEST(GzipSource, IgnoresZerosAfterAMember) {
  const std::string zeros(1000, '\0');
  for (const std::size_t portion : {1U, 7U, 100'000U}) {
    EXPECT_EQ(unzipped_lines(gzip("a\n") + zeros, portion), Lines{"a"});
    EXPECT_EQ(unzipped_lines(gzip("a\n") + zeros + gzip("b\n"), portion), (Lines{"a", "b"}));
    EXPECT_EQ(unzipped_lines(gzip("a\n") + "garbage", portion).back(),
              "<gzip: the compressed data is damaged>");
  }
}

TEST(GzipSource, ReportsDamageAndTruncation) {
  std::string zipped = gzip("a\nb\n");
  EXPECT_EQ(unzipped_lines(zipped.substr(0, zipped.size() - 3), 100).back(),
            "<gzip: the file is truncated>");
  zipped[14] = static_cast<char>(zipped[14] ^ 0x55);
  EXPECT_EQ(unzipped_lines(zipped, 100).back(), "<gzip: the compressed data is damaged>");
}

TEST(GzipSource, InflatesALogOfOneRepeatedRequest) {
  const std::string line =
      R"(192.0.2.7 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 5 "-" "curl/8")"
      "\n";
  std::string log;
  while (log.size() < std::size_t{32} << 20U) log += line;
  const std::string zipped = gzip(log);
  EXPECT_GT(log.size() / zipped.size(), 250U);
  GzipSource source(std::make_unique<TextSource>(zipped));
  std::vector<char> buffer(std::size_t{1} << 20U);
  std::uint64_t inflated = 0;
  while (true) {
    const Result<std::size_t> got = source.read(buffer);
    ASSERT_TRUE(got) << got.error().detail;
    if (*got == 0) break;
    inflated += *got;
  }
  EXPECT_EQ(inflated, log.size());
}

}  // namespace
}  // namespace penstock::replay
