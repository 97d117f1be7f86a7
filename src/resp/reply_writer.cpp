#include "resp/reply_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace penstock::resp {
namespace {

constexpr std::size_t kLongestHeader = 24;  // a kind, twenty characters, a line end

char* put_header(char* to, char kind, std::int64_t number) {
  *to++ = kind;
  to = std::to_chars(to, to + kLongestHeader - 3, number).ptr;
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

}  // namespace

void ReplyWriter::bulk(std::string_view text) {
  header('$', static_cast<std::int64_t>(text.size()));
  out_ += text;
  out_ += "\r\n";
}

void ReplyWriter::null() { out_ += version_ == Version::Three ? "_\r\n" : "$-1\r\n"; }

void ReplyWriter::number(std::string_view text) {
  if (version_ == Version::Three) return line(',', text);
  bulk(text);
}

void ReplyWriter::map(std::size_t pairs) {
  if (version_ == Version::Three) return header('%', static_cast<std::int64_t>(pairs));
  array(2 * pairs);
}

void ReplyWriter::integers(std::span<const std::int64_t> numbers) {
  array(numbers.size());
  constexpr std::size_t kAtOnce = 8;
  std::array<char, kAtOnce * kLongestHeader> text;
  while (!numbers.empty()) {
    const std::size_t count = std::min(kAtOnce, numbers.size());
    char* end = text.data();
    for (const std::int64_t number : numbers.first(count)) end = put_header(end, ':', number);
    out_.append(text.data(), end);
    numbers = numbers.subspan(count);
  }
}

void ReplyWriter::line(char kind, std::string_view text) {
  out_ += kind;
  const std::size_t start = out_.size();
  out_ += text;
  std::replace_if(
      out_.begin() + static_cast<std::ptrdiff_t>(start), out_.end(),
      [](char c) { return c == '\r' || c == '\n'; }, ' ');
  out_ += "\r\n";
}

void ReplyWriter::header(char kind, std::int64_t number) {
  std::array<char, kLongestHeader> text;
  out_.append(text.data(), put_header(text.data(), kind, number));
}

}  // namespace penstock::resp
