#pragma once

#include "rules/yaml/load_state.hpp"

namespace penstock::rules {

// Warns of valid configurations that probably limit nothing: domains of listeners without rules,
// attributes that no listener, map, descriptor or caller_attributes provides.
// REQUIRES: all files were read without an error.
void warn_of_probable_mistakes(const LoadState& state);

}  // namespace penstock::rules
