#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace penstock::resp {

// A word within the line it came from.
struct InlineWord {
  std::size_t offset;
  std::size_t size;
};

// The words of an inline command. Between quotes spaces are kept; between double ones
// \n \r \t \b \a \xHH stand for bytes, and a backslash keeps the next character, between single
// ones only \' does. Words are put where the line was: they never grow.
//
// False when a quote is not closed, or is closed in the middle of a word.
[[nodiscard]] bool split_inline(std::span<char> line, std::vector<InlineWord>& words);

}  // namespace penstock::resp
