#pragma once

#include "service/answer.hpp"
#include "service/request_flow.hpp"

namespace penstock::service {

// The short way, for what is usual: no limits, or limits that are all enforced, above 0 and take
// nothing of what they refuse, and a store that answers at once. `answer` then says what
// RequestFlow would have said, with the same calls of the store and the same events. False, and
// nothing is done, for all other requests.
[[nodiscard]] bool try_answer(const ServiceDeps& deps, std::string_view domain, Answer& answer);

}  // namespace penstock::service
