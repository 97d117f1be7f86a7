#pragma once

#include "penstock/result.hpp"
#include "replay/input/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace penstock::replay {

// Splits a source into lines without copying them. Memory is bounded: of a line longer than
// kMaxLine only the length is kept.
//
// Thread-safety: none.
class LineReader {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{1} << 20U;

  explicit LineReader(std::unique_ptr<ByteSource> source);

  struct Line {
    std::string_view text{};   // valid until the next call; without the newline, or CR and newline
    std::uint64_t number = 0;  // from 1
    bool is_too_long = false;  // the text is empty
    bool is_end = false;       // there are no more lines
  };
  [[nodiscard]] Result<Line> next();

  // The first bytes of the source, to detect its format; all of a short one. REQUIRES: before the
  // first call of next().
  [[nodiscard]] Result<std::string_view> peek();

  // The number of the last line.
  [[nodiscard]] std::uint64_t lines_read() const noexcept { return lines_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  // Reads more behind the unused bytes. Sets is_at_end_ when there is nothing left.
  [[nodiscard]] Result<void> fill();
  [[nodiscard]] Result<Line> skip_long_line();
  [[nodiscard]] Line take(std::size_t length, std::size_t used);

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;    // of the unused bytes
  std::size_t scanned_ = 0;  // without a newline up to here
  std::size_t end_ = 0;
  bool is_at_end_ = false;
  std::uint64_t lines_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace penstock::replay
