#pragma once

#include "penstock/result.hpp"
#include "rules/model/ruleset.hpp"
#include "wire/http/api/backend.hpp"

#include <string_view>
#include <vector>

namespace penstock::http {

// Backend::limits_of_rule and limits_of_domain, as the rules say.
[[nodiscard]] Result<std::vector<SubjectLimit>> limits_of_rule(const rules::Ruleset& rules,
                                                               std::string_view domain,
                                                               std::string_view rule,
                                                               std::string_view subject);
[[nodiscard]] Result<std::vector<SubjectLimit>> limits_of_domain(const rules::Ruleset& rules,
                                                                 std::string_view domain,
                                                                 std::string_view subject);

}  // namespace penstock::http
