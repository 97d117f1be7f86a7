#pragma once

#include "rules/yaml/load_state.hpp"

// Our own format: the domains.
namespace penstock::rules {

void load_domains(const YamlNode& section, LoadState& state);

}  // namespace penstock::rules
