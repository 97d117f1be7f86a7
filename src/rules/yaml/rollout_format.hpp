#pragma once

#include "rules/model/rule.hpp"
#include "rules/yaml/yaml_reader.hpp"

namespace penstock::rules {

// Reads `enforce`, `abort` and `near_limit` into the rule. REQUIRES: the other options that decide
// whether it is enforced (`shadow`, `key`, `if_missing`) are read.
void read_rollout(const YamlFields& fields, Rule& rule);

}  // namespace penstock::rules
