#pragma once

#include "rules/model/path_pattern.hpp"
#include "rules/model/text_map.hpp"

#include <boost/container/small_vector.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace penstock::rules {

// Numbers of rules, or of patterns; longer lists go to the heap.
using RuleNumbers = boost::container::small_vector<std::uint32_t, 16>;

// Numbers by path pattern. A search walks down the segments of a path, so that patterns which begin
// otherwise cost nothing. What it finds may still fail behind a `**`.
class PathTrie {
 public:
  PathTrie() : nodes_(1) {}

  void add(const PathPattern& pattern, std::uint32_t number);
  void find(std::span<const std::string_view> path, RuleNumbers& found) const;

 private:
  struct Node {
    TextMap<std::uint32_t> literal{};
    std::vector<std::pair<std::string, std::uint32_t>> wildcard{};
    std::uint32_t any = 0;  // 0: there is none
    std::vector<std::uint32_t> here{};
    std::vector<std::uint32_t> below{};  // with any rest
  };
  std::uint32_t child(std::uint32_t node, const PathPattern::Segment& segment);
  void walk(std::uint32_t node, std::span<const std::string_view> path, RuleNumbers& found) const;

  std::vector<Node> nodes_;  // the root is the first
};

}  // namespace penstock::rules
