#pragma once

#include "rules/model/text_map.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// Is the whole text what the pattern says? A '*' stands for any run of characters, none included;
// there is no way to write a '*' that means itself.
[[nodiscard]] bool matches_wildcard(std::string_view pattern, std::string_view text);

// Patterns in the order in which they were declared. They are kept by what stands before their
// first '*': a text is compared only with those that begin as it does.
class EnvoyWildcards {
 public:
  // Which one it was: the n-th call to add, from 0.
  using Position = std::size_t;

  Position add(std::string pattern);
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  // The first declared pattern that matches.
  [[nodiscard]] std::optional<Position> find(std::string_view text) const;

 private:
  struct Pattern {
    Position position;
    std::string text;
  };

  std::size_t size_ = 0;
  std::vector<std::size_t> beginning_lengths_;  // that exist, shortest first
  TextMap<std::vector<Pattern>> by_beginning_;
};

}  // namespace penstock::rules
