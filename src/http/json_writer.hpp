#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::http {

// Appends to a text faster than the text itself: a write of a few bytes, the common case, is a
// comparison and a store. The content of the text is unspecified until the writer is destroyed.
class TextWriter {
 public:
  // REQUIRES: `out` is not used otherwise while the writer lives.
  explicit TextWriter(std::string& out) noexcept
      : out_(out), next_(out.data() + out.size()), end_(next_) {}
  ~TextWriter() { out_.resize(size()); }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  // Of the whole text, including what was there before.
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
  // Moves the rest of the text by one. REQUIRES: place < size().
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
  char* end_;  // of the writable bytes
};

// Appends JSON to a text without building a tree, because responses are written for every request.
// The writer adds commas and escapes; the caller does the rest.
class JsonWriter {
 public:
  // REQUIRES: `out` outlives the writer.
  explicit JsonWriter(std::string& out) noexcept : out_(out) {}

  JsonWriter& begin_object() { return punctuate('{'); }
  JsonWriter& begin_array() { return punctuate('['); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& end_array() { return close(']'); }
  // REQUIRES: one of our own names, with nothing to escape.
  JsonWriter& name(std::string_view name);

  // Bytes that are not UTF-8 are replaced.
  JsonWriter& text(std::string_view value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  template <std::integral T>
  JsonWriter& number(T value) {
    separate();
    out_ += std::to_string(value);
    return *this;
  }
  // 12345 as 12.345, without trailing zeros.
  JsonWriter& thousandths(std::uint64_t value);

 private:
  void separate();
  JsonWriter& punctuate(char opening);
  JsonWriter& close(char closing);

  std::string& out_;
};

}  // namespace penstock::http
