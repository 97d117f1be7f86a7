#pragma once

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

}  // namespace penstock::wire::grpc
