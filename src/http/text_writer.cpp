#include "http/text_writer.hpp"

#include <array>
#include <charconv>

namespace penstock::http {

TextWriter& TextWriter::number(std::uint64_t number) {
  constexpr std::size_t kMostDigits = 20;
  if (static_cast<std::size_t>(end_ - next_) >= kMostDigits) [[likely]] {
    next_ = std::to_chars(next_, end_, number).ptr;
    return *this;
  }
  std::array<char, kMostDigits> digits;  // a short text stays one, and needs no heap
  const char* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  return text({digits.data(), end});
}

void TextWriter::insert(std::size_t place, char letter) {
  need(1);
  char* const here = out_.data() + place;
  std::copy_backward(here, next_, next_ + 1);
  *here = letter;
  ++next_;
}

// As much as there is already, for a text that is used again; but no more than most need.
void TextWriter::grow(std::size_t bytes) {
  constexpr std::size_t kStep = 512;
  const std::size_t written = size();
  out_.resize(std::max(written + bytes, std::min(out_.capacity(), written + kStep)));
  next_ = out_.data() + written;
  end_ = out_.data() + out_.size();
}

}  // namespace penstock::http
