#include "rules/match/rule_index.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace penstock::rules {
namespace {

// A rule is not filed under more values than this: it would be cheaper to look at it.
constexpr std::size_t kMaxFiled = 10'000;

// The words under which a condition can be filed; nothing when it cannot.
std::optional<std::vector<std::string>> words_of(const Condition& condition) {
  std::vector<std::string> words;
  if (const auto* test = std::get_if<OneOf>(&condition.test)) {
    words = test->values;
  } else if (const auto* paths = std::get_if<PathOneOf>(&condition.test)) {
    for (const PathPattern& pattern : paths->patterns) {
      // Patterns that begin with ** are candidates for every path.
      const auto& segments = pattern.segments();
      const bool everywhere =
          !segments.empty() && segments[0].kind == PathPattern::Segment::Kind::Rest;
      words.push_back(everywhere ? "/**" : pattern.text());
    }
  } else if (const auto* networks = std::get_if<InNetwork>(&condition.test)) {
    for (const base::IpNetwork& network : networks->networks) {
      std::string word;
      network.address.append_to(word);
      words.push_back(word + "/" + std::to_string(network.prefix));
    }
  } else {
    return std::nullopt;
  }
  if (words.size() > kMaxFiled) return std::nullopt;
  const std::string slot = std::to_string(condition.slot) + "=";
  for (std::string& word : words) word.insert(0, slot);
  return words;
}

using Shares = std::unordered_map<std::string, std::size_t>;

// How many rules share a word of this condition; the most where it has several words.
std::size_t crowd(const Condition& condition, const Shares& shares) {
  const auto words = words_of(condition);
  if (!words) return std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  for (const std::string& word : *words) most = std::max(most, shares.at(word));
  return most;
}

}  // namespace

RuleIndex::RuleIndex(std::span<const std::vector<Condition>* const> rules) {
  Shares shares;
  for (const auto* conditions : rules) {
    for (const Condition& condition : *conditions) {
      const auto words = words_of(condition);
      if (!words) continue;
      for (const std::string& word : *words) ++shares[word];
    }
  }
  for (std::uint32_t number = 0; number < rules.size(); ++number) {
    const Condition* best = nullptr;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (const Condition& condition : *rules[number]) {
      const std::size_t shared = crowd(condition, shares);
      if (shared >= fewest) continue;
      best = &condition;
      fewest = shared;
    }
    if (best == nullptr) {
      always_.push_back(number);
    } else {
      file(*best, number);
    }
  }
}

void RuleIndex::file(const Condition& condition, std::uint32_t number) {
  auto place = std::find_if(slots_.begin(), slots_.end(),
                            [&](const auto& one) { return one.first == condition.slot; });
  if (place == slots_.end()) {
    slots_.emplace_back(condition.slot, Slot{});
    place = slots_.end() - 1;
  }
  Slot& slot = place->second;
  if (const auto* test = std::get_if<OneOf>(&condition.test)) {
    for (const std::string& value : test->values) slot.values[value].push_back(number);
  } else if (const auto* paths = std::get_if<PathOneOf>(&condition.test)) {
    slot.has_paths = true;
    for (const PathPattern& pattern : paths->patterns) slot.paths.add(pattern, number);
  } else if (const auto* networks = std::get_if<InNetwork>(&condition.test)) {
    for (const base::IpNetwork& network : networks->networks) slot.networks.add(network, number);
  }
}

void RuleIndex::find(const SlotValues& slot_values, RuleNumbers& candidates) const {
  candidates.assign(always_.begin(), always_.end());
  for (const auto& [number, slot] : slots_) {
    const SlotValue& slot_value = slot_values[number];
    if (!slot_value.value) continue;
    if (!slot.values.empty()) {
      const auto found = slot.values.find(*slot_value.value);
      if (found != slot.values.end()) {
        candidates.insert(candidates.end(), found->second.begin(), found->second.end());
      }
    }
    if (slot.has_paths) slot.paths.find(slot_value.segments, candidates);
    if (slot_value.address) {
      slot.networks.find(*slot_value.address, [&](std::uint32_t one) {
        candidates.push_back(one);
        return false;
      });
    }
  }
  if (candidates.size() == always_.size()) return;  // which are in order
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
}

}  // namespace penstock::rules
