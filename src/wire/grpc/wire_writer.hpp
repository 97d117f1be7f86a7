#pragma once

#include "http/text_writer.hpp"
#include "wire/grpc/wire_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::wire::grpc {

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
