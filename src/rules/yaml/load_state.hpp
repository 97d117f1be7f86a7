#pragma once

#include "rules/model/ruleset_builder.hpp"
#include "rules/model/text_map.hpp"
#include "rules/model/value_maps.hpp"
#include "rules/settings/settings.hpp"
#include "rules/yaml/quota_format.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// What a domain reads of requests, to be checked when all files are read.
struct DomainAttributes {
  std::string domain;
  std::optional<YamlNode> name{};        // where that stands
  std::vector<YamlNode> mentions{};      // each name where it is written
  std::vector<std::string> looked_up{};  // in maps: known whatever callers send
  std::vector<std::string> declared{};   // caller_attributes
  std::vector<std::string> captures{};   // of patterns: what else a name may have meant
  bool has_caller_attributes = false;    // whether there is a list of them at all
};

// A listener that asks for a domain by its settings.
struct DomainReference {
  YamlNode node;  // where it is written, or the section that leaves it to the default
  std::string domain;
  std::string_view option;     // "gateway.domain"
  std::string_view listener;   // "the gateway"
  std::string_view folding{};  // "gateway.paths.case", when that is insensitive
};

// What the files of one configuration share while they are read.
struct LoadState {
  Settings settings{};
  ValueMaps maps{};
  OverrideMaps overrides{};
  RulesetBuilder builder{};
  std::vector<std::filesystem::path> files{};
  std::vector<YamlNode> domains{};  // each `domains` section, read when all maps are known
  std::vector<DomainAttributes> attributes{};
  std::vector<DomainReference> references{};
  std::optional<YamlNode> in_flight_key{};  // gateway.max_in_flight.key
  TextMap<Source> sections{};               // where each of server, store ... was written
};

[[nodiscard]] inline Source source_of(const YamlNode& node) {
  return {.file = node.file(), .line = node.position().line};
}
[[nodiscard]] inline std::string to_string(const Source& source) {
  return source.file + ":" + std::to_string(source.line);
}

}  // namespace penstock::rules
