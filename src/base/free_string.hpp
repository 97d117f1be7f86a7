#pragma once

#include <string>

namespace penstock::base {

// Empties a string and frees its memory. `text = std::string()` keeps it: libstdc++ copies a short
// string into the room that is there.
inline void free_string(std::string& text) noexcept { std::string().swap(text); }

}  // namespace penstock::base
