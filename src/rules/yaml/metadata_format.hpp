#pragma once

#include "rules/model/metadata.hpp"
#include "rules/yaml/yaml_reader.hpp"

namespace penstock::rules {

// Reads `metadata` as YAML 1.1 types it: words without quotes may be numbers or truths. What JSON
// cannot say is reported.
[[nodiscard]] MetadataMap read_metadata(const YamlNode& node);

}  // namespace penstock::rules
