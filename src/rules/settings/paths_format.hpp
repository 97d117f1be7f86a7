#pragma once

#include "rules/settings/gateway_settings.hpp"
#include "rules/yaml/yaml_reader.hpp"

namespace penstock::rules {

// `paths`: how the paths of requests are normalized. Members stay as they are when there is no such
// key.
void read_paths(const YamlFields& fields, PathSettings& paths);

}  // namespace penstock::rules
