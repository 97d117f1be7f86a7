#pragma once

#include "base/text_hash.hpp"
#include "rules/model/ruleset_builder.hpp"
#include "rules/model/value_maps.hpp"
#include "rules/settings/settings.hpp"
#include "rules/yaml/limit_format.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// The attributes that a domain uses, checked when all files are read.
struct DomainAttributes {
  std::string domain;
  std::optional<YamlNode> name{};        // its position
  std::vector<YamlNode> mentions{};      // each use of a name
  std::vector<std::string> looked_up{};  // in maps; always known
  std::vector<std::string> declared{};   // caller_attributes
  std::vector<std::string> captures{};   // of patterns, for suggestions
  bool has_caller_attributes = false;    // the list is there, perhaps empty
};

// An attribute that a domain looks up in a map.
struct MapUse {
  std::shared_ptr<const ValueMap> map;
  bool takes_any_value = false;        // also for other than comparing it with given values
  std::vector<std::string> matched{};  // the values that rules compare it with, and its default
};

// A listener with a domain in its settings.
struct DomainReference {
  YamlNode node;  // its position, or the section when it is the default
  std::string domain;
  std::string_view option;     // "gateway.domain"
  std::string_view listener;   // "the gateway"
  std::string_view folding{};  // "gateway.paths.case", when that is insensitive
};

// State shared by the files of one configuration while they are read.
struct LoadState {
  Settings settings{};
  ValueMaps maps{};
  OverrideMaps overrides{};
  RulesetBuilder builder{};
  std::vector<std::filesystem::path> files{};
  std::vector<YamlNode> domains{};  // each `domains` section, read when all maps are known
  std::vector<DomainAttributes> attributes{};
  std::vector<MapUse> map_uses{};
  std::vector<DomainReference> references{};
  std::optional<YamlNode> in_flight_key{};  // gateway.max_in_flight.key
  base::TextMap<Source> sections{};         // position of each section
};

[[nodiscard]] inline Source source_of(const YamlNode& node) {
  return {.file = node.file(), .line = node.position().line};
}
[[nodiscard]] inline std::string to_string(const Source& source) {
  return source.file + ":" + std::to_string(source.line);
}

}  // namespace penstock::rules
