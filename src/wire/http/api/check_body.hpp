#pragma once

#include "core/named_check.hpp"
#include "http/json.hpp"
#include "penstock/result.hpp"
#include "rules/model/request.hpp"
#include "rules/model/rule.hpp"

#include <string>
#include <vector>

namespace penstock::http {

inline constexpr std::size_t kMaxChecks = 1000;  // of one batch

// {"domain", "attributes": {...} | "descriptors": [...], "cost"}. The texts of the request are the
// JSON's. `path` is where it stands, as in JsonObjectReader.
[[nodiscard]] Result<rules::Request> read_check(const Json& json, std::string path);

// {"checks": [...]}, or the array alone.
[[nodiscard]] Result<std::vector<rules::Request>> read_checks(const Json& json);

// A limit in the request itself, with its failure policy.
struct TakeRequest {
  core::NamedCheck check;
  rules::OnFailure on_failure = rules::OnFailure::Closed;
};

// {"key", "limit", "burst", "algorithm", "cost", "on_failure"}; `on_failure` where that is missing.
[[nodiscard]] Result<TakeRequest> read_take(const Json& json, rules::OnFailure on_failure);

}  // namespace penstock::http
