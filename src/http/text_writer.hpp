#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::http {

// Appends to a text, quicker than the text itself: most of what is written is a few bytes at a
// time, and here that is a comparison and a store. The text holds anything until the writer ends.
class TextWriter {
 public:
  // REQUIRES: nobody else touches `out` while the writer lives.
  explicit TextWriter(std::string& out) noexcept
      : out_(out), next_(out.data() + out.size()), end_(next_) {}
  ~TextWriter() { out_.resize(size()); }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  // Of the text, what was there before included.
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(next_ - out_.data());
  }
  // REQUIRES: place < size().
  void replace(std::size_t place, char letter) noexcept { out_[place] = letter; }

  TextWriter& letter(char letter) {
    need(1);
    *next_++ = letter;
    return *this;
  }
  TextWriter& text(std::string_view text) {
    need(text.size());
    next_ = std::copy_n(text.data(), text.size(), next_);
    return *this;
  }
  TextWriter& number(std::uint64_t number);
  // What stands there and behind moves by one. REQUIRES: place < size().
  void insert(std::size_t place, char letter);

 private:
  void need(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - next_) < bytes) [[unlikely]] {
      grow(bytes);
    }
  }
  void grow(std::size_t bytes);

  std::string& out_;
  char* next_;
  char* end_;  // of what may be written to
};

}  // namespace penstock::http
