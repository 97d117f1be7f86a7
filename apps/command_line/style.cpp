#include "apps/command_line/style.hpp"

#include <unistd.h>

#include <cstdlib>

namespace penstock::app {
namespace {

std::string_view environment(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): no thread runs
  return value == nullptr ? "" : value;
}

std::string_view symbol(Style style) {
  switch (style) {
    case Style::Good: return "✓ ";
    case Style::Mixed: return "! ";
    case Style::Bad: return "✗ ";
    case Style::Plain:
    case Style::Bold:
    case Style::Faint: break;
  }
  return "";
}

}  // namespace

bool is_terminal(int descriptor) {
  const std::string_view terminal = environment("TERM");
  return isatty(descriptor) != 0 && !terminal.empty() && terminal != "dumb";
}

Colour colour_of(int descriptor) {
  const bool coloured = is_terminal(descriptor) && environment("NO_COLOR").empty();
  return coloured ? Colour::Always : Colour::Never;
}

std::string_view escape(Style style) noexcept {
  switch (style) {
    case Style::Plain: return "\x1b[0m";
    case Style::Bold: return "\x1b[0;1m";
    case Style::Faint: return "\x1b[0;2m";
    case Style::Good: return "\x1b[0;32m";
    case Style::Mixed: return "\x1b[0;33m";
    case Style::Bad: return "\x1b[0;1;31m";
  }
  return "";
}

std::string paint(std::string_view text, Style style, Colour colour) {
  if (colour == Colour::Never || style == Style::Plain) return std::string(text);
  return std::string(escape(style)) + std::string(text) + std::string(escape(Style::Plain));
}

std::string mark(std::string_view text, Style style, Colour colour) {
  if (colour == Colour::Never) return std::string(text);
  return paint(std::string(symbol(style)) + std::string(text), style, colour);
}

}  // namespace penstock::app
