#pragma once

#include "http/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

using http::Field;

// How a message says where its body ends.
struct BodyFraming {
  enum class Kind : std::uint8_t { None, Length, Chunked, UntilClose };
  Kind kind = Kind::None;
  std::uint64_t length = 0;  // of Length

  friend bool operator==(const BodyFraming&, const BodyFraming&) = default;
};

// The body of one HTTP/1.1 message, taken out of the bytes that carry it, in any portions alike.
//
// Strict where readers disagree (RFC 9112, section 7.1): sizes are hexadecimal digits and nothing
// else, lines end with CR LF. Holds nothing but the trailers, which are bounded.
class BodyDecoder {
 public:
  BodyDecoder() = default;
  explicit BodyDecoder(BodyFraming framing) noexcept;

  struct Piece {
    std::string_view data{};  // of the body
    std::size_t used = 0;     // of the bytes
    bool is_broken = false;   // they make no sense, and so does nothing behind them
  };
  // Takes as much as it can. What is between two chunks is squeezed out: the data is one piece,
  // within `bytes`, which is no longer what it was.
  [[nodiscard]] Piece decode(std::span<char> bytes);
  // The connection has ended: whether this is the end of the body too.
  [[nodiscard]] bool finish() noexcept;

  [[nodiscard]] bool is_complete() const noexcept { return state_ == State::Done; }
  // Fields after the last chunk; valid as long as the decoder. REQUIRES: is_complete().
  [[nodiscard]] std::vector<Field> trailers() const;

  static constexpr std::size_t kMaxTrailerBytes = 8'192;
  static constexpr std::size_t kMaxExtensionBytes = 1'024;  // of one chunk

 private:
  enum class State : std::uint8_t {
    Data,        // left_ bytes
    Everything,  // until the connection ends
    Size,
    Extension,
    SizeEnd,  // the LF
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    Done,
    Broken,
  };
  void take_framing(char letter);
  void take_size(char letter);
  void take_trailer(char letter);
  void keep_trailer(char letter);
  [[nodiscard]] bool has_good_trailers() const;

  State state_ = State::Done;
  bool is_chunked_ = false;
  std::uint64_t left_ = 0;
  std::size_t digits_ = 0;  // of the size, or bytes of its extension
  std::string trailer_text_{};
};

// "1a2b\r\n" before a chunk.
class ChunkHead {
 public:
  explicit ChunkHead(std::size_t size) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 18> text_{};
  std::size_t size_ = 0;
};

// The end of a body in chunks.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
[[nodiscard]] std::string last_chunk(std::span<const Field> trailers);

// A decimal number, and nothing else. Empty when it is none, or does not fit.
[[nodiscard]] std::optional<std::uint64_t> parse_length(std::string_view text) noexcept;

}  // namespace penstock::gateway
