#include "resp/inline_words.hpp"

#include <optional>

namespace penstock::resp {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
  return std::nullopt;
}

char escaped(char c) {
  switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return c;
  }
}

// Walks over one line, and writes words behind itself.
class Splitter {
 public:
  explicit Splitter(std::span<char> line) : line_(line) {}

  [[nodiscard]] bool split(std::vector<InlineWord>& words) {
    while (true) {
      while (!at_end() && is_space(line_[in_])) ++in_;
      if (at_end()) return true;
      const std::size_t start = out_;
      if (!take_word()) return false;
      words.push_back({.offset = start, .size = out_ - start});
    }
  }

 private:
  [[nodiscard]] bool at_end() const { return in_ == line_.size(); }
  void put(char c) { line_[out_++] = c; }

  bool take_word() {
    while (!at_end() && !is_space(line_[in_])) {
      const char c = line_[in_++];
      if (c != '"' && c != '\'') {
        put(c);
        continue;
      }
      if (!(c == '"' ? take_double_quoted() : take_single_quoted())) return false;
      return at_end() || is_space(line_[in_]);
    }
    return true;
  }

  bool take_double_quoted() {
    while (!at_end()) {
      const char c = line_[in_++];
      if (c == '"') return true;
      if (c == '\\' && !at_end()) {
        take_escape();
      } else {
        put(c);
      }
    }
    return false;
  }

  void take_escape() {
    const char c = line_[in_++];
    if (c == 'x' && in_ + 1 < line_.size()) {
      const auto high = hex_digit(line_[in_]);
      const auto low = hex_digit(line_[in_ + 1]);
      if (high && low) {
        put(static_cast<char>(*high * 16U + *low));
        in_ += 2;
        return;
      }
    }
    put(escaped(c));
  }

  bool take_single_quoted() {
    while (!at_end()) {
      char c = line_[in_++];
      if (c == '\'') return true;
      if (c == '\\' && !at_end() && line_[in_] == '\'') c = line_[in_++];
      put(c);
    }
    return false;
  }

  std::span<char> line_;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
};

}  // namespace

bool split_inline(std::span<char> line, std::vector<InlineWord>& words) {
  return Splitter(line).split(words);
}

}  // namespace penstock::resp
