#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::app {

enum class Style : std::uint8_t { Plain, Bold, Faint, Good, Mixed, Bad };

enum class Colour : std::uint8_t { Never, Always };

// One line of a terminal picture, drawn character by character and from left to right or on top of
// what is there. Columns are code points: nothing wide or combining may be written.
class StyledLine {
 public:
  // Writes at the end.
  void append(std::string_view text, Style style = Style::Plain);
  // Writes from this column on, padding with blanks or replacing what is there.
  void put(std::size_t column, std::string_view text, Style style = Style::Plain);

  [[nodiscard]] std::size_t width() const noexcept { return cells_.size(); }
  // With the newline, without blanks before it.
  [[nodiscard]] std::string render(Colour colour) const;

 private:
  struct Cell {
    std::string glyph = " ";
    Style style = Style::Plain;
  };

  std::vector<Cell> cells_;
};

// How many columns a text fills, under the same assumption.
[[nodiscard]] std::size_t columns(std::string_view text) noexcept;

}  // namespace penstock::app
