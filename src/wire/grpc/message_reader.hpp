#pragma once

#include "base/text.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::wire::grpc {

// Messages as gRPC puts them into the body of a request: a flag, four bytes of length, the bytes.
// They come in any portions.
class MessageReader {
 public:
  enum class Progress : std::uint8_t {
    NeedMore,
    Message,     // message() has it
    TooLarge,    // declared size() is more than allowed
    Compressed,  // which this call may not be
    Malformed,   // the flag is neither 0 nor 1
  };

  enum class Compression : std::uint8_t { Rejected, Accepted };
  void begin(std::size_t max_bytes, Compression compression = Compression::Rejected);
  // Frees the memory of a large message. REQUIRES: begin() comes next.
  void end();
  // Frees everything. REQUIRES: begin() comes next.
  void clear() noexcept {
    base::free_string(buffer_);
    front_ = 0;
  }
  void add(std::string_view bytes);

  // The state of the first message; the same until pop(). Everything but NeedMore and Message is
  // final.
  [[nodiscard]] Progress peek() const noexcept;
  [[nodiscard]] std::string_view message() const noexcept;
  // Whether message() is compressed. REQUIRES: peek() is Message.
  [[nodiscard]] bool is_compressed() const noexcept { return buffer_[front_] == 1; }
  [[nodiscard]] std::size_t size() const noexcept;
  // Done with this message. REQUIRES: peek() is Message.
  void pop();

  // Bytes in memory.
  [[nodiscard]] std::size_t held() const noexcept { return buffer_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return buffer_.capacity(); }
  // Nothing is left, not even a part.
  [[nodiscard]] bool is_empty() const noexcept { return front_ == buffer_.size(); }
  // Something follows the message at the front.
  [[nodiscard]] bool has_more() const noexcept;

 private:
  std::string buffer_;
  std::size_t front_ = 0;
  std::size_t max_bytes_ = 0;
  Compression compression_ = Compression::Rejected;
};

inline constexpr std::size_t kPrefix = 5;

// Writes the prefix of a message of this size. REQUIRES: five bytes of room.
void write_prefix(char* out, std::uint32_t size) noexcept;

enum class GunzipResult : std::uint8_t {
  Done,
  TooLarge,   // more than max_bytes come out
  Malformed,  // not one gzip member, or a part of one
};

// Inflates one gzip member. At most max_bytes + 1 bytes are written or kept, whatever the ratio.
// `out` is overwritten, and holds the message when it is Done.
[[nodiscard]] GunzipResult gunzip(std::string_view compressed, std::size_t max_bytes,
                                  std::string& out);

}  // namespace penstock::wire::grpc
