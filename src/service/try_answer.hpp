#pragma once

#include "service/answer.hpp"
#include "service/request_flow.hpp"

namespace penstock::service {

// The inline path for common requests: no limits, or only enforced limits above 0 without
// count_denied, and a store that answers inline. `answer` is then what RequestFlow would answer,
// with the same store calls and events. Returns false, and does nothing, for other requests.
[[nodiscard]] bool try_answer(const ServiceDeps& deps, std::string_view domain, Answer& answer);

}  // namespace penstock::service
