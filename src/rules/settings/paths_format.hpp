#pragma once

#include "rules/settings/gateway_settings.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <string_view>

namespace penstock::rules {

// `paths`: how the paths of requests are normalized. Members stay as they are when there is no such
// key.
void read_paths(const YamlFields& fields, PathSettings& paths);

// `option`, the name of `case`, when these settings show paths to rules in lower case; else empty.
[[nodiscard]] std::string_view folding(const PathSettings& paths, std::string_view option);

}  // namespace penstock::rules
