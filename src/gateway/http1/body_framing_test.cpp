#include "gateway/http1/body_framing.hpp"

#include "gateway/http1/message_writer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace penstock::gateway {
namespace {

using Kind = BodyFraming::Kind;

struct Decoded {
  std::string data;
  std::string rest;  // input that was not consumed
  bool is_complete = false;
  bool is_broken = false;

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

// Feeds the bytes in portions that end at these positions.
Decoded decode(BodyFraming framing, const std::string& bytes,
               const std::vector<std::size_t>& ends) {
  BodyDecoder decoder(framing);
  Decoded result;
  std::string waiting;
  std::size_t at = 0;
  const auto take = [&](std::size_t end) {
    if (result.is_broken || decoder.is_complete()) return;
    waiting += bytes.substr(at, end - at);
    at = end;
    const BodyDecoder::Piece piece = decoder.decode(waiting);
    result.data += piece.data;
    result.is_broken = piece.is_broken;
    waiting.erase(0, piece.used);
  };
  for (const std::size_t end : ends) {
    if (end > at && end < bytes.size()) take(end);
  }
  take(bytes.size());
  result.is_complete = decoder.is_complete();
  if (!result.is_broken) result.rest = waiting + bytes.substr(at);
  return result;
}

std::string encode(Kind kind, const std::vector<std::string>& pieces) {
  std::string bytes;
  BodyEncoder encoder(kind);
  const auto add = [&](std::string_view data, Last last) {
    BufferSequence out;
    encoder.add(out, data, last);
    for (const auto& part : out.parts()) {
      bytes.append(static_cast<const char*>(part.data()), part.size());
    }
  };
  for (const std::string& piece : pieces) add(piece, Last::No);
  add("", Last::Yes);
  return bytes;
}

std::vector<std::size_t> any_ends(std::size_t size) {
  auto ends =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, size + 1));
  std::sort(ends.begin(), ends.end());
  return ends;
}

RC_GTEST_PROP(BodyFraming, DecodesEncodedBodiesInAnyPortions,
              (const std::vector<std::string>& pieces)) {
  std::string whole;
  for (const std::string& piece : pieces) whole += piece;
  const bool chunked = *rc::gen::arbitrary<bool>();
  const BodyFraming framing{.kind = chunked ? Kind::Chunked : Kind::Length,
                            .length = chunked ? 0 : whole.size()};
  const std::string bytes = encode(framing.kind, pieces) + "behind";
  const Decoded decoded = decode(framing, bytes, any_ends(bytes.size()));
  RC_ASSERT(decoded.data == whole);
  RC_ASSERT(decoded.is_complete);
  RC_ASSERT(decoded.rest == "behind");
}

// Uses the characters of chunk framing, so that many inputs are almost valid.
RC_GTEST_PROP(BodyFraming, AcceptsTheSameBytesInAnyPortions, ()) {
  const auto bytes = *rc::gen::container<std::string>(
      rc::gen::element('0', '1', 'a', 'F', ';', ' ', '\r', '\n', '\r', '\n', ':', 'x'));
  const BodyFraming framing{.kind = Kind::Chunked};
  RC_ASSERT(decode(framing, bytes, any_ends(bytes.size())) == decode(framing, bytes, {}));
}

TEST(BodyFraming, RejectsAmbiguousChunks) {
  for (const std::string bytes :
       {"\r\nabc\r\n", "3 \r\nabc\r\n0\r\n\r\n", " 3\r\nabc\r\n0\r\n\r\n", "3\nabc\r\n0\r\n\r\n",
        "3\r\nabcd\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "0x3\r\nabc\r\n0\r\n\r\n", "-3\r\nabc\r\n",
        "+3\r\nabc\r\n", "3;a\nb\r\nabc\r\n", "3\rabc\r\n", "g\r\n", "1000000000000000\r\n",
        "0\r\nX: a\n\r\n", "0\r\n X: a\r\n\r\n", "0\r\nX : a\r\n\r\n", "0\r\nnothing\r\n\r\n",
        "0\r\nX: \x01\r\n\r\n", "3\r\nabc\r\n0\r\n\rX"}) {
    EXPECT_TRUE(decode({.kind = Kind::Chunked}, bytes, {}).is_broken) << bytes;
  }
}

TEST(BodyFraming, BoundsTrailersAndChunkExtensions) {
  const BodyFraming chunked{.kind = Kind::Chunked};
  EXPECT_TRUE(decode(chunked, "3;" + std::string(2000, 'a'), {}).is_broken);
  EXPECT_TRUE(decode(chunked, "0\r\nX: " + std::string(10'000, 'a'), {}).is_broken);
  EXPECT_FALSE(
      decode(chunked, "3;" + std::string(1000, 'a') + "\r\nabc\r\n0\r\n\r\n", {}).is_broken);
}

TEST(BodyFraming, ReturnsTheTrailers) {
  BodyDecoder decoder({.kind = Kind::Chunked});
  std::string bytes = "3\r\nabc\r\n0\r\nChecksum:  12 \r\nOther: x\r\n\r\n";
  EXPECT_EQ(decoder.decode(bytes).data, "abc");
  ASSERT_TRUE(decoder.is_complete());
  const std::vector<Field> trailers = decoder.trailers();
  ASSERT_EQ(trailers.size(), 2U);
  EXPECT_EQ(trailers[0].name, "Checksum");
  EXPECT_EQ(trailers[0].value, "12");
  EXPECT_EQ(last_chunk(trailers), "0\r\nChecksum: 12\r\nOther: x\r\n\r\n");
}

TEST(BodyFraming, EndOfConnectionEndsOnlyUnframedBodies) {
  BodyDecoder until_close({.kind = Kind::UntilClose});
  EXPECT_FALSE(until_close.is_complete());
  EXPECT_TRUE(until_close.finish());
  BodyDecoder length({.kind = Kind::Length, .length = 3});
  EXPECT_FALSE(length.finish());
  BodyDecoder chunked({.kind = Kind::Chunked});
  EXPECT_FALSE(chunked.finish());
  EXPECT_TRUE(BodyDecoder(BodyFraming{}).is_complete());
}

}  // namespace
}  // namespace penstock::gateway
