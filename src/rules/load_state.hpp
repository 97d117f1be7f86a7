#pragma once

#include "rules/quota_format.hpp"
#include "rules/ruleset_builder.hpp"
#include "rules/settings.hpp"
#include "rules/text_map.hpp"
#include "rules/value_maps.hpp"
#include "rules/yaml_reader.hpp"

#include <filesystem>
#include <vector>

namespace penstock::rules {

// What the files of one configuration share while they are read.
struct LoadState {
  Settings settings{};
  ValueMaps maps{};
  OverrideMaps overrides{};
  RulesetBuilder builder{};
  std::vector<std::filesystem::path> files{};
  TextMap<Source> sections{};  // where each of server, store ... was written
};

[[nodiscard]] inline Source source_of(const YamlNode& node) {
  return {.file = node.file(), .line = node.position().line};
}
[[nodiscard]] inline std::string to_string(const Source& source) {
  return source.file + ":" + std::to_string(source.line);
}

}  // namespace penstock::rules
