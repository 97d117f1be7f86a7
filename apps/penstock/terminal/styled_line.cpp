#include "apps/penstock/terminal/styled_line.hpp"

#include <algorithm>

namespace penstock::app {
namespace {

bool continues_a_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

void StyledLine::append(std::string_view text, Style style) { put(cells_.size(), text, style); }

void StyledLine::put(std::size_t column, std::string_view text, Style style) {
  cells_.resize(std::max(cells_.size(), column + columns(text)));
  std::size_t next = column;
  for (std::size_t begin = 0; begin < text.size(); ++next) {
    std::size_t end = begin + 1;
    while (end < text.size() && continues_a_character(text[end])) ++end;
    cells_[next] = {.glyph = std::string(text.substr(begin, end - begin)), .style = style};
    begin = end;
  }
}

std::string StyledLine::render(Colour colour) const {
  const auto is_blank = [](const Cell& cell) { return cell.glyph == " "; };
  const auto end = std::find_if_not(cells_.rbegin(), cells_.rend(), is_blank).base();
  std::string text;
  Style current = Style::Plain;
  const auto change_to = [&](Style style) {
    if (colour == Colour::Always && style != current) text += escape(style);
    current = style;
  };
  for (auto cell = cells_.begin(); cell != end; ++cell) {
    if (!is_blank(*cell)) change_to(cell->style);
    text += cell->glyph;
  }
  change_to(Style::Plain);
  return text + "\n";
}

std::size_t columns(std::string_view text) noexcept {
  return text.size() -
         static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_a_character));
}

}  // namespace penstock::app
