#include "rules/envoy/envoy_tree.hpp"

#include "rules/model/limit_keys.hpp"
#include "rules/model/path_pattern.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {
namespace {

void append_entry(std::string& text, const Attribute& entry) {
  text += entry.name;
  if (entry.value.empty()) return;
  text += '_';
  text += entry.value;
}

// Tells most names that a level lacks without looking for them.
std::uint64_t length_bit(std::size_t length) { return std::uint64_t{1} << (length % 64); }

bool depends_on_values(const EnvoyStep& step) {
  return !step.shared && step.node->traits().value_to_metric;
}

}  // namespace

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
      if (!wildcard_matches(pattern.text, text)) continue;
      first = pattern.position;
      break;
    }
  }
  return first;
}

EnvoyNode::EnvoyNode(Traits traits) : traits_(std::move(traits)), name_(name_of(traits_)) {}

std::string EnvoyNode::name_of(const Traits& traits) {
  return traits.value.empty() ? traits.key : traits.key + "_" + traits.value;
}

EnvoyNode* EnvoyNode::add(Traits traits) {
  auto node = std::make_unique<EnvoyNode>(std::move(traits));
  const auto [place, added] = children_.try_emplace(node->name());
  if (!added) return nullptr;
  place->second = std::move(node);
  EnvoyNode* child = place->second.get();
  lengths_ |= length_bit(child->name().size());
  if (child->name().find('*') != std::string::npos) {
    wildcards_.add(child->name());
    wildcard_nodes_.push_back(child);
  }
  return child;
}

void EnvoyNode::set_rule(const Rule& rule, std::vector<std::string> replaces) {
  rule_ = &rule;
  limit_name_ = rules::limit_name(rule.domain, rule.name, {});
  replaces_ = std::move(replaces);
}

EnvoyNode::Found EnvoyNode::child_for(const Attribute& entry, std::string& scratch) const {
  const bool may_be_named =
      (lengths_ & length_bit(entry.name.size() + 1 + entry.value.size())) != 0;
  if (may_be_named || !wildcards_.empty()) {
    scratch.assign(entry.name);
    scratch += '_';
    scratch += entry.value;
    if (const auto named = children_.find(scratch); named != children_.end()) {
      return {.node = named->second.get(), .by = By::ValueOrName};
    }
    if (const auto position = wildcards_.find(scratch)) {
      return {.node = wildcard_nodes_[*position], .by = By::Wildcard};
    }
  }
  if (const auto any = children_.find(entry.name); any != children_.end()) {
    return {.node = any->second.get(), .by = By::Key};
  }
  return {};
}

std::string_view shared_value(const EnvoyStep& step) {
  std::string_view pattern = step.node->name();
  const std::string_view key = step.entry->name;
  const bool has_key = pattern.starts_with(key) && pattern.substr(key.size()).starts_with('_');
  if (has_key) pattern.remove_prefix(key.size() + 1);
  return pattern;
}

EnvoyMatchPath walk(const EnvoyNode& root, std::span<const Attribute> entries,
                    std::string& scratch) {
  EnvoyMatchPath match_path;
  match_path.reserve(entries.size());
  const EnvoyNode* here = &root;
  for (const Attribute& entry : entries) {
    const EnvoyNode::Found found = here->child_for(entry, scratch);
    if (found.node == nullptr) {
      match_path.clear();
      return match_path;
    }
    here = found.node;
    // A request with the text of the pattern itself is an exact match.
    const bool shared = here->traits().share_threshold && found.by == EnvoyNode::By::Wildcard;
    match_path.push_back({.entry = &entry, .node = here, .shared = shared});
  }
  return match_path;
}

bool has_dynamic_metric(std::span<const EnvoyStep> match_path) {
  return match_path.back().node->traits().detailed_metric ||
         std::any_of(match_path.begin(), match_path.end(), depends_on_values);
}

std::string metric_of(std::string_view domain, std::span<const EnvoyStep> match_path) {
  const bool detailed = match_path.back().node->traits().detailed_metric;
  std::string metric(domain);
  for (const EnvoyStep& step : match_path) {
    metric += '.';
    if (detailed && !step.shared) {
      metric += step.entry->name;
      metric += '_';
      metric += step.entry->value;
    } else if (depends_on_values(step)) {
      append_entry(metric, *step.entry);
    } else {
      metric += step.node->name();
    }
  }
  return metric;
}

std::string metric_of(std::string_view domain, std::span<const Attribute> entries) {
  std::string metric(domain);
  for (const Attribute& entry : entries) {
    metric += '.';
    append_entry(metric, entry);
  }
  return metric;
}

}  // namespace penstock::rules
