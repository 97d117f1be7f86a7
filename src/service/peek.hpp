#pragma once

#include "service/request_flow.hpp"

namespace penstock::service {

// Answers as a RequestFlow would, without charging: one call peeks all limits. A denial has the
// longest possible wait (decision_from_peek()).
void peek(const ServiceDeps& deps, Answer answer, base::Deadline deadline,
          std::function<void(Answer)> answered);

}  // namespace penstock::service
