#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Colours and symbols of a terminal, for all commands.
namespace penstock::app {

enum class Style : std::uint8_t { Plain, Bold, Faint, Good, Mixed, Bad };

enum class Colour : std::uint8_t { Never, Always };

// Whether this file descriptor is a terminal that understands escape sequences: TERM is set, and
// not "dumb".
[[nodiscard]] bool is_terminal(int descriptor);

// For this file descriptor: Always on such a terminal, unless NO_COLOR is set.
[[nodiscard]] Colour colour_of(int descriptor);

// The escape sequence that selects a style.
[[nodiscard]] std::string_view escape(Style style) noexcept;

// The text in this style; unchanged without colours.
[[nodiscard]] std::string paint(std::string_view text, Style style, Colour colour);

// The same after a symbol: ✓ (Good), ! (Mixed) or ✗ (Bad). Unchanged without colours, so that
// scripts see the text only.
[[nodiscard]] std::string mark(std::string_view text, Style style, Colour colour);

}  // namespace penstock::app
