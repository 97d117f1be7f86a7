#pragma once

#include "http/json_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::wire::grpc {

// Tags of protobuf's wire format that fit into one byte: fields up to 15.
constexpr unsigned char number_tag(unsigned field) {
  return static_cast<unsigned char>(field << 3U);
}
constexpr unsigned char text_tag(unsigned field) {
  return static_cast<unsigned char>(field << 3U | 2U);
}

// Reads a protobuf message field by field: a tag, then its value.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool is_empty() const noexcept { return rest_.empty(); }

  // The next byte. REQUIRES: there is one.
  [[nodiscard]] unsigned char tag() noexcept {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

  // Up to five bytes; false for longer or truncated ones.
  [[nodiscard]] bool number(std::uint64_t& out) noexcept {
    constexpr std::size_t kMaxVarintBytes = 5;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kMaxVarintBytes && i < rest_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      value |= std::uint64_t{byte & 0x7FU} << 7U * i;
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        out = value;
        return true;
      }
    }
    return false;
  }

  // A string or a message; false when it is truncated.
  [[nodiscard]] bool text(std::string_view& out) noexcept {
    std::uint64_t size = 0;
    if (!number(size) || size > rest_.size()) return false;
    out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view rest_;
};

// Writes protobuf's wire format, of fields up to 15. As protobuf does, it leaves out zeros and
// empty texts.
class WireWriter {
 public:
  explicit WireWriter(http::TextWriter& out) : out_(out) {}

  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    out_.letter(static_cast<char>(number_tag(field)));
    varint(value);
  }
  void bytes(unsigned field, std::string_view value) {
    if (!value.empty()) field_of(field, value);
  }
  // Elements of a repeated field, and messages, are written even when they are empty.
  void field_of(unsigned field, std::string_view value) {
    out_.letter(static_cast<char>(text_tag(field)));
    varint(value.size());
    out_.text(value);
  }

  // A nested message or a text: the bytes written between begin() and end(), which takes the result
  // of begin().
  [[nodiscard]] std::size_t begin(unsigned field) {
    out_.letter(static_cast<char>(text_tag(field)));
    out_.letter('\0');  // enough for the length of most
    return out_.size();
  }
  void end(std::size_t start) {
    std::size_t size = out_.size() - start;
    std::size_t place = start - 1;
    while (size > kSevenBits) {
      out_.replace(place, static_cast<char>(size | kMore));
      out_.insert(++place, '\0');
      size >>= 7U;
    }
    out_.replace(place, static_cast<char>(size));
  }

 private:
  static constexpr std::size_t kSevenBits = 0x7F;
  static constexpr std::size_t kMore = 0x80;

  void varint(std::uint64_t value) {
    for (; value > kSevenBits; value >>= 7U) out_.letter(static_cast<char>(value | kMore));
    out_.letter(static_cast<char>(value));
  }

  http::TextWriter& out_;
};

}  // namespace penstock::wire::grpc
