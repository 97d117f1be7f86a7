#pragma once

#include "rules/model/condition.hpp"
#include "rules/model/path_pattern.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace penstock::rules {

// Finds the few rules that may apply to a request among very many. Each rule is filed under one of
// its conditions, the one that the fewest other rules share: values in a hash table, paths in a
// tree of segments, networks by prefix. Rules with none of these are always candidates.
class RuleIndex {
 public:
  // One list of conditions per rule, in the order of the rules; numbers are indices in it.
  explicit RuleIndex(std::span<const std::vector<Condition>* const> rules);

  // Numbers of all rules that can apply, and some that cannot, in ascending order.
  void find(const SlotValues& slot_values, RuleNumbers& candidates) const;

 private:
  struct Slot {
    base::TextMap<std::vector<std::uint32_t>> values{};
    PathTrie paths{};
    NetworkTable networks{};
    bool has_paths = false;
  };
  void file(const Condition& condition, std::uint32_t number);

  std::vector<std::pair<std::size_t, Slot>> slots_;  // only those that rules are filed under
  std::vector<std::uint32_t> always_;
};

}  // namespace penstock::rules
