#pragma once

#include "rules/yaml/load_state.hpp"

namespace penstock::rules {

// Warns of what is valid, but probably limits nothing: domains without rules that a listener asks
// for, attributes that no listener provides and no map, descriptor or caller_attributes names.
// REQUIRES: all files were read without an error.
void warn_of_probable_mistakes(const LoadState& state);

}  // namespace penstock::rules
