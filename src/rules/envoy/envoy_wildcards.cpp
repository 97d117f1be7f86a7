#include "rules/envoy/envoy_wildcards.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {

bool matches_wildcard(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  // The position of the last '*', and the end of its run: a mismatch extends that run by one.
  // Earlier stars need no backtracking, since the last one can match the rest.
  std::optional<std::size_t> star;
  std::size_t run_end = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      run_end = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star.has_value()) {
      p = *star + 1;
      t = ++run_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

EnvoyWildcards::Position EnvoyWildcards::add(std::string pattern) {
  const std::string beginning = pattern.substr(0, pattern.find('*'));
  const auto place = std::ranges::lower_bound(beginning_lengths_, beginning.size());
  if (place == beginning_lengths_.end() || *place != beginning.size()) {
    beginning_lengths_.insert(place, beginning.size());
  }
  by_beginning_[beginning].push_back({.position = size_, .text = std::move(pattern)});
  return size_++;
}

std::optional<EnvoyWildcards::Position> EnvoyWildcards::find(std::string_view text) const {
  std::optional<Position> first;
  for (const std::size_t length : beginning_lengths_) {
    if (length > text.size()) break;
    const auto candidates = by_beginning_.find(text.substr(0, length));
    if (candidates == by_beginning_.end()) continue;
    for (const Pattern& pattern : candidates->second) {
      if (first.has_value() && pattern.position > *first) break;
      if (!matches_wildcard(pattern.text, text)) continue;
      first = pattern.position;
      break;
    }
  }
  return first;
}

}  // namespace penstock::rules
