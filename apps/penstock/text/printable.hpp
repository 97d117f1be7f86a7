#pragma once

#include <string>

namespace penstock::app {

// Texts of clients may contain control characters, which would change the terminal.
[[nodiscard]] inline std::string printable(std::string text) {
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
  }
  return text;
}

}  // namespace penstock::app
