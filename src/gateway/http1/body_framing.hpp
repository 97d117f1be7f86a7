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

// How the end of a message body is determined.
struct BodyFraming {
  enum class Kind : std::uint8_t { None, Length, Chunked, UntilClose };
  Kind kind = Kind::None;
  std::uint64_t length = 0;  // of Length

  friend bool operator==(const BodyFraming&, const BodyFraming&) = default;
};

// Whether a piece is the last one of its body.
enum class Last : std::uint8_t { No, Yes };

// What happens to a connection after the response.
enum class AfterResponse : std::uint8_t { KeepAlive, Close };

// Extracts the body of one HTTP/1.1 message, fed in portions of any size.
//
// Strict where parsers disagree (RFC 9112, section 7.1): sizes are hexadecimal digits only, lines
// end with CR LF. Stores only the trailers, which are bounded.
class BodyDecoder {
 public:
  BodyDecoder() = default;
  explicit BodyDecoder(BodyFraming framing) noexcept;

  struct Piece {
    std::string_view data{};  // bytes of the body
    std::size_t used = 0;     // input bytes consumed
    bool is_broken = false;   // malformed; the rest cannot be decoded
  };
  // Decodes as much as possible. Chunk framing is removed in place: the data is contiguous and
  // within `bytes`, which is modified.
  [[nodiscard]] Piece decode(std::span<char> bytes);
  // Call when the connection has ended. Returns whether the body is complete.
  [[nodiscard]] bool finish() noexcept;

  [[nodiscard]] bool is_complete() const noexcept { return state_ == State::Done; }
  // Fields after the last chunk; valid as long as the decoder lives. REQUIRES: is_complete().
  [[nodiscard]] std::vector<Field> trailers() const;

  static constexpr std::size_t kMaxTrailerBytes = 8'192;
  static constexpr std::size_t kMaxExtensionBytes = 1'024;  // per chunk

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
  std::size_t digits_ = 0;  // digits of the size, or bytes of the extension
  std::string trailer_text_{};
};

// The size line before a chunk: hexadecimal digits and CR LF.
class ChunkHead {
 public:
  explicit ChunkHead(std::size_t size) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 18> text_{};
  std::size_t size_ = 0;
};

// Ends a chunked body.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
[[nodiscard]] std::string last_chunk(std::span<const Field> trailers);

// Parses a decimal number. Empty when it has other characters or does not fit.
[[nodiscard]] std::optional<std::uint64_t> parse_length(std::string_view text) noexcept;

}  // namespace penstock::gateway
