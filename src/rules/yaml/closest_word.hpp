#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace penstock::rules {

// The candidate that was most likely meant: at most a third of its letters wrong, missing, added or
// swapped with the next. Empty when none is that close.
[[nodiscard]] std::string_view closest_word(
    std::string_view typed, std::span<const std::string_view> candidates,
    std::size_t max_edits = std::numeric_limits<std::size_t>::max());

// "; did you mean 'limit'?", or nothing.
[[nodiscard]] std::string suggestion(std::string_view typed,
                                     std::span<const std::string_view> candidates);

}  // namespace penstock::rules
