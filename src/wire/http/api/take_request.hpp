#pragma once

#include "core/named_check.hpp"
#include "http/json.hpp"
#include "penstock/result.hpp"
#include "rules/model/rule.hpp"

namespace penstock::http {

// A limit in the request itself, with its failure policy.
struct TakeRequest {
  core::NamedCheck check;
  rules::OnFailure on_failure = rules::OnFailure::Closed;
};

// {"key", "limit", "burst", "algorithm", "cost", "on_failure"}; `on_failure` where that is missing.
[[nodiscard]] Result<TakeRequest> read_take(const Json& json, rules::OnFailure on_failure);

}  // namespace penstock::http
