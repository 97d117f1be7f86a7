#pragma once

#include "rules/model/metadata.hpp"
#include "rules/yaml/yaml_reader.hpp"

namespace penstock::rules {

// Reads `metadata` with the types of YAML 1.1: unquoted words may be numbers or booleans. Values
// that JSON cannot represent are reported.
[[nodiscard]] MetadataMap read_metadata(const YamlNode& node);

}  // namespace penstock::rules
