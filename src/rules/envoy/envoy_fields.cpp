#include "rules/envoy/envoy_fields.hpp"

#include "rules/yaml/closest_word.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace penstock::rules {
namespace {

struct Word {
  std::string_view name;
  EnvoyMap home;
  bool ours = false;  // unknown to envoyproxy/ratelimit
};

constexpr std::array kWords{
    Word{"domain", EnvoyMap::File},
    Word{"descriptors", EnvoyMap::File},
    Word{"on_failure", EnvoyMap::File, true},
    Word{"mode", EnvoyMap::File, true},
    Word{"lease_lifetime", EnvoyMap::File, true},
    Word{"share", EnvoyMap::File, true},
    Word{"descriptors", EnvoyMap::Descriptor},
    Word{"key", EnvoyMap::Descriptor},
    Word{"value", EnvoyMap::Descriptor},
    Word{"rate_limit", EnvoyMap::Descriptor},
    Word{"shadow_mode", EnvoyMap::Descriptor},
    Word{"quota_mode", EnvoyMap::Descriptor},
    Word{"detailed_metric", EnvoyMap::Descriptor},
    Word{"value_to_metric", EnvoyMap::Descriptor},
    Word{"share_threshold", EnvoyMap::Descriptor},
    Word{"metadata", EnvoyMap::Descriptor},
    Word{"unit", EnvoyMap::RateLimit},
    Word{"requests_per_unit", EnvoyMap::RateLimit},
    Word{"unlimited", EnvoyMap::RateLimit},
    Word{"replaces", EnvoyMap::RateLimit},
    Word{"name", EnvoyMap::RateLimit},
    Word{"algorithm", EnvoyMap::RateLimit, true},
    Word{"burst", EnvoyMap::RateLimit, true},
    Word{"count_denied", EnvoyMap::RateLimit, true},
    Word{"on_failure", EnvoyMap::RateLimit, true},
    Word{"mode", EnvoyMap::RateLimit, true},
    Word{"lease_lifetime", EnvoyMap::RateLimit, true},
    Word{"share", EnvoyMap::RateLimit, true},
    Word{"name", EnvoyMap::Replaces},
};

std::string_view place_of(EnvoyMap map) {
  switch (map) {
    case EnvoyMap::File: return "at the top of the file";
    case EnvoyMap::Descriptor: return "in a descriptor";
    case EnvoyMap::RateLimit: return "in rate_limit";
    case EnvoyMap::Replaces: return "in replaces";
  }
  return {};
}

std::string suggestion_for(std::string_view typed, EnvoyMap kind) {
  std::vector<std::string_view> candidates;
  for (const Word& word : kWords) {
    if (word.home == kind) candidates.push_back(word.name);
  }
  return suggestion(typed, candidates);
}

}  // namespace

EnvoyFields::EnvoyFields(const YamlNode& map, EnvoyMap kind) : map_(map) {
  for (const YamlEntry& entry : map.entries()) {
    if (!knows(entry.key, kind)) continue;
    if (is_acceptable(entry)) {
      entries_.push_back(entry);
    } else {
      invalid_keys_.push_back(entry.key.raw());
    }
  }
}

bool EnvoyFields::knows(const YamlNode& key, EnvoyMap kind) {
  const std::string name(key.raw());
  if (scalar_of(key) != EnvoyScalar::Text) {
    key.error("config error, key is not of type string: " + name);
    return false;
  }
  const Word* elsewhere = nullptr;
  for (const Word& word : kWords) {
    if (word.name != name) continue;
    if (word.home == kind) return true;
    if (elsewhere == nullptr || elsewhere->ours) elsewhere = &word;
  }
  if (elsewhere == nullptr) {
    key.error("config error, unknown key '" + name + "'" + suggestion_for(name, kind));
    return false;
  }
  const std::string belongs = "it belongs " + std::string(place_of(elsewhere->home));
  if (elsewhere->ours) {
    key.error("config error, unknown key '" + name + "' here; " + belongs);
  } else {
    key.warning("'" + name + "' has no effect here; " + belongs);
  }
  return false;
}

// The walk that envoyproxy/ratelimit makes over a file before it reads it.
bool EnvoyFields::is_acceptable(const YamlEntry& entry) {
  if (entry.key.raw() == "metadata") return true;
  if (entry.value.is_text() && scalar_of(entry.value) == EnvoyScalar::Float) {
    entry.value.error("error checking config: " + std::string(entry.key.raw()) +
                      " is a number with a fraction; in quotes it is a text");
    return false;
  }
  if (!entry.value.is_list()) return true;
  for (const YamlNode& element : entry.value.list()) {
    if (element.is_map()) continue;
    element.error("config error, yaml file contains list of type other than map" +
                  (element.is_text() ? ": " + std::string(element.raw()) : std::string{}));
  }
  return true;
}

std::optional<YamlNode> EnvoyFields::find(std::string_view key) const {
  for (const YamlEntry& entry : entries_) {
    if (entry.key.raw() == key && !entry.value.is_nothing()) return entry.value;
  }
  return std::nullopt;
}

bool EnvoyFields::is_invalid(std::string_view key) const {
  return std::ranges::find(invalid_keys_, key) != invalid_keys_.end();
}

std::optional<std::string> EnvoyFields::text(std::string_view key) const {
  const std::optional<YamlNode> node = find(key);
  if (!node) return std::nullopt;
  if (node->is_text()) return std::string(node->raw());
  node->expected("a text");
  return std::nullopt;
}

bool EnvoyFields::flag(std::string_view key) const {
  const std::optional<YamlNode> node = find(key);
  if (!node) return false;
  if (node->is_text() && !node->is_quoted()) {
    if (const std::optional<bool> truth = envoy_boolean(node->raw())) return *truth;
  }
  node->expected("true or false");
  return false;
}

std::optional<std::uint32_t> EnvoyFields::number(std::string_view key) const {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::optional<YamlNode> node = find(key);
  if (!node) return std::nullopt;
  if (node->is_text() && !node->is_quoted()) {
    const std::optional<std::int64_t> value = envoy_integer(node->raw());
    if (value && *value >= 0 && *value <= kMost) return static_cast<std::uint32_t>(*value);
  }
  node->expected("a whole number from 0 to " + std::to_string(kMost));
  return std::nullopt;
}

std::vector<YamlNode> EnvoyFields::maps(std::string_view key) const {
  const std::optional<YamlNode> node = find(key);
  if (!node) return {};
  std::vector<YamlNode> nodes = node->list();
  std::erase_if(nodes, [](const YamlNode& element) { return !element.is_map(); });
  return nodes;
}

}  // namespace penstock::rules
