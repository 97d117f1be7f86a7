#pragma once

#include "apps/command_line/style.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::app {

// One line of a terminal picture. Columns are code points: wide and combining characters are not
// supported.
class StyledLine {
 public:
  // Appends.
  void append(std::string_view text, Style style = Style::Plain);
  // Writes from this column on: pads with blanks, or overwrites.
  void put(std::size_t column, std::string_view text, Style style = Style::Plain);

  // Removes what is beyond this width.
  void truncate(std::size_t width) { cells_.resize(std::min(width, cells_.size())); }

  [[nodiscard]] std::size_t width() const noexcept { return cells_.size(); }
  // Ends with a newline, without trailing blanks.
  [[nodiscard]] std::string render(Colour colour) const;

 private:
  struct Cell {
    std::string glyph = " ";
    Style style = Style::Plain;
  };

  std::vector<Cell> cells_;
};

// The columns of a text.
[[nodiscard]] std::size_t columns(std::string_view text) noexcept;

}  // namespace penstock::app
