#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::redis_store {

// Integers as Lua's struct library packs them with '<': little-endian, with the given number of
// bytes.
class PackedWriter {
 public:
  PackedWriter& number(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xffU);
    return *this;
  }
  PackedWriter& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const& noexcept { return bytes_; }
  [[nodiscard]] std::string bytes() && noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads them back. REQUIRES: enough bytes are left; see left().
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    }
    rest_.remove_prefix(bytes);
    return value;
  }
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

 private:
  std::string_view rest_;
};

}  // namespace penstock::redis_store
