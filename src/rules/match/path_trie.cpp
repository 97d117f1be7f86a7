#include "rules/match/path_trie.hpp"

#include <algorithm>

namespace penstock::rules {

std::uint32_t PathTrie::child(std::uint32_t node, const PathPattern::Segment& segment) {
  using Kind = PathPattern::Segment::Kind;
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  std::uint32_t found = next;
  Node& from = nodes_[node];
  if (segment.kind == Kind::Literal) {
    found = from.literal.try_emplace(segment.text, next).first->second;
  } else if (segment.kind == Kind::Any) {
    if (from.any == 0) from.any = next;
    found = from.any;
  } else {
    const auto place = std::find_if(from.wildcard.begin(), from.wildcard.end(),
                                    [&](const auto& one) { return one.first == segment.text; });
    if (place != from.wildcard.end()) return place->second;
    from.wildcard.emplace_back(segment.text, next);
  }
  if (found == next) nodes_.emplace_back();
  return found;
}

void PathTrie::add(const PathPattern& pattern, std::uint32_t number) {
  std::uint32_t node = 0;
  for (const PathPattern::Segment& segment : pattern.segments()) {
    if (segment.kind == PathPattern::Segment::Kind::Rest) {
      nodes_[node].below.push_back(number);
      return;
    }
    node = child(node, segment);
  }
  nodes_[node].here.push_back(number);
}

void PathTrie::find(std::span<const std::string_view> path, RuleNumbers& found) const {
  walk(0, path, found);
}

// Not deeper than a pattern has segments.
void PathTrie::walk(std::uint32_t node, std::span<const std::string_view> path,
                    RuleNumbers& found) const {
  const Node& at = nodes_[node];
  found.insert(found.end(), at.below.begin(), at.below.end());
  if (path.empty()) {
    found.insert(found.end(), at.here.begin(), at.here.end());
    return;
  }
  if (const auto next = at.literal.find(path.front()); next != at.literal.end()) {
    walk(next->second, path.subspan(1), found);
  }
  for (const auto& [pattern, next] : at.wildcard) {
    if (wildcard_matches(pattern, path.front())) walk(next, path.subspan(1), found);
  }
  if (at.any != 0) walk(at.any, path.subspan(1), found);
}

}  // namespace penstock::rules
