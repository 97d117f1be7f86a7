#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::wire::grpc {

// Writes protobuf's wire format to the end of a text. As protobuf does, it leaves out zeros and
// empty texts.
class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}

  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, kVarint);
    varint(value);
  }
  void bytes(unsigned field, std::string_view value) {
    if (!value.empty()) field_of(field, value);
  }
  // Elements of a repeated field, and messages, are written even when they are empty.
  void field_of(unsigned field, std::string_view value) {
    tag(field, kLengthDelimited);
    varint(value.size());
    out_.append(value);
  }

  // A message in a message: what is written between begin() and end(), which gets what begin()
  // returned.
  [[nodiscard]] std::size_t begin(unsigned field) {
    tag(field, kLengthDelimited);
    out_.push_back('\0');  // enough for the length of most
    return out_.size();
  }
  void end(std::size_t start) {
    std::size_t size = out_.size() - start;
    std::size_t place = start - 1;
    while (size > kSevenBits) {
      out_[place] = static_cast<char>(size | kMore);
      out_.insert(++place, 1, '\0');
      size >>= 7U;
    }
    out_[place] = static_cast<char>(size);
  }

 private:
  static constexpr unsigned kVarint = 0;
  static constexpr unsigned kLengthDelimited = 2;
  static constexpr std::size_t kSevenBits = 0x7F;
  static constexpr std::size_t kMore = 0x80;

  void tag(unsigned field, unsigned type) { varint(std::uint64_t{field} << 3U | type); }
  void varint(std::uint64_t value) {
    for (; value > kSevenBits; value >>= 7U) out_.push_back(static_cast<char>(value | kMore));
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
};

}  // namespace penstock::wire::grpc
