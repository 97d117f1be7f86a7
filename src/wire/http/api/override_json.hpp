#pragma once

#include "http/json.hpp"
#include "store/operator_store.hpp"

namespace penstock::http {

// As /v1/overrides and /rules show it.
[[nodiscard]] Json override_json(const store::Override& set);
// As /v1/actions shows it.
[[nodiscard]] Json action_json(const store::OperatorAction& action);

}  // namespace penstock::http
