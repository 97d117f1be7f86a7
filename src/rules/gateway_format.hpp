#pragma once

#include "rules/load_state.hpp"
#include "rules/yaml_reader.hpp"

// Our own format: the gateway.
namespace penstock::rules {

void load_gateway(const YamlNode& section, LoadState& state);

}  // namespace penstock::rules
