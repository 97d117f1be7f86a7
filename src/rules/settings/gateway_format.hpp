#pragma once

#include "rules/yaml/load_state.hpp"
#include "rules/yaml/yaml_reader.hpp"

// Our own format: the gateway.
namespace penstock::rules {

void load_gateway(const YamlNode& section, LoadState& state);

}  // namespace penstock::rules
