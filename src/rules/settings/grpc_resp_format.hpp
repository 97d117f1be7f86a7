#pragma once

#include "rules/yaml/load_state.hpp"
#include "rules/yaml/yaml_reader.hpp"

// Our own format: the doors besides HTTP.
namespace penstock::rules {

void load_grpc(const YamlNode& section, LoadState& state);
void load_resp(const YamlNode& section, LoadState& state);

}  // namespace penstock::rules
