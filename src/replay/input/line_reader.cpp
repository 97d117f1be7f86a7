#include "replay/input/line_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace penstock::replay {
namespace {

// Room for a line of the longest permitted length and its newline.
constexpr std::size_t kMaxBuffer = LineReader::kMaxLine + 2;
constexpr std::size_t kFirstBuffer = std::size_t{256} << 10U;

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kFirstBuffer) {}

Result<LineReader::Line> LineReader::next() {
  while (true) {
    if (scanned_ < end_) {
      const void* const found = std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_);
      if (found != nullptr) {
        const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
        return take(at - begin_, at - begin_ + 1);
      }
      scanned_ = end_;
    }
    if (is_at_end_) {
      if (begin_ == end_) return Line{.number = lines_, .is_end = true};
      return take(end_ - begin_, end_ - begin_);
    }
    if (end_ - begin_ > kMaxLine) return skip_long_line();
    if (const Result<void> filled = fill(); !filled) return filled.error();
  }
}

Result<std::string_view> LineReader::peek() {
  constexpr std::size_t kEnough = std::size_t{32} << 10U;
  while (end_ < kEnough && !is_at_end_) {
    if (const Result<void> filled = fill(); !filled) return filled.error();
  }
  return std::string_view(buffer_.data(), end_);
}

LineReader::Line LineReader::take(std::size_t length, std::size_t used) {
  std::string_view text(buffer_.data() + begin_, length);
  begin_ += used;
  scanned_ = begin_;
  if (text.ends_with('\r')) text.remove_suffix(1);
  Line line{.text = text, .number = ++lines_};
  if (text.size() > kMaxLine) line = {.number = lines_, .is_too_long = true};
  return line;
}

Result<LineReader::Line> LineReader::skip_long_line() {
  while (true) {
    begin_ = scanned_ = end_ = 0;
    if (const Result<void> filled = fill(); !filled) return filled.error();
    const void* const found = std::memchr(buffer_.data(), '\n', end_);
    if (found == nullptr && !is_at_end_) continue;
    if (found != nullptr) {
      begin_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
      scanned_ = begin_;
    }
    if (found == nullptr) begin_ = scanned_ = end_;
    return Line{.number = ++lines_, .is_too_long = true};
  }
}

Result<void> LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(std::min(buffer_.size() * 2, kMaxBuffer));
  const Result<std::size_t> got = source_->read(std::span(buffer_).subspan(end_));
  if (!got) return got.error();
  end_ += *got;
  bytes_read_ += *got;
  is_at_end_ = *got == 0;
  return {};
}

}  // namespace penstock::replay
