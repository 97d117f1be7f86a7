#pragma once

#include "http/json.hpp"
#include "penstock/result.hpp"
#include "rules/model/request.hpp"

#include <string>
#include <vector>

namespace penstock::http {

inline constexpr std::size_t kMaxChecks = 1000;  // of one batch

// {"domain", "attributes": {...} | "descriptors": [...], "cost"}. The texts of the request are the
// JSON's. `path` is where it stands, as in JsonObjectReader.
[[nodiscard]] Result<rules::Request> read_check(const Json& json, std::string path);

// {"checks": [...]}, or the array alone.
[[nodiscard]] Result<std::vector<rules::Request>> read_checks(const Json& json);

}  // namespace penstock::http
