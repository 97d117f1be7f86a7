#pragma once

#include "rules/yaml/load_state.hpp"
#include "rules/yaml/yaml_reader.hpp"

// Our own format: what is not a rule.
namespace penstock::rules {

void load_server(const YamlNode& section, LoadState& state);
void load_log(const YamlNode& section, Settings& settings);
void load_store(const YamlNode& section, LoadState& state);
void load_request_limits(const YamlNode& section, Settings& settings);
void load_unknown_domain(const YamlNode& value, LoadState& state);
void load_nodes(const YamlNode& value, Settings& settings);

}  // namespace penstock::rules
