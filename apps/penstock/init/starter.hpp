#pragma once

#include <array>
#include <string_view>

namespace penstock::app {

// A starter configuration of `penstock init`.
struct Starter {
  std::string_view kind;
  std::string_view text;
  std::string_view request;  // a command that shows the first decision
};

// The default is the first.
[[nodiscard]] const std::array<Starter, 4>& starters() noexcept;

// Null if there is no such kind.
[[nodiscard]] const Starter* find_starter(std::string_view kind) noexcept;

}  // namespace penstock::app
