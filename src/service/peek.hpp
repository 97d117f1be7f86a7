#pragma once

#include "service/request_flow.hpp"

namespace penstock::service {

// Answers as a RequestFlow would, and takes nothing: all counts are looked at in one call. The wait
// of a refusal is the longest that it can be (decision_from_peek()).
void peek(const ServiceDeps& deps, Answer answer, base::Deadline deadline,
          std::function<void(Answer)> answered);

}  // namespace penstock::service
