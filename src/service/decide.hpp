#pragma once

#include "base/deadline.hpp"
#include "service/answer.hpp"
#include "service/service_deps.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace penstock::service {

// Whether the answer is reported to Events here, or by the caller, which may have to change it.
enum class Reporting : std::uint8_t { Here, ByCaller };

// Runs a RequestFlow: inline while the store answers inline, then with store calls. All calls share
// ServiceDeps::store_timeout. Answers once, possibly before it returns. `undecided` has the match
// and its limits, without decisions.
void decide(const ServiceDeps& deps, Answer&& undecided, std::string_view domain,
            base::Deadline deadline, std::function<void(Answer)> answered,
            Reporting reporting = Reporting::Here);

// The answer while the store is unavailable: see RequestFlow::finish_without_store(). Not reported
// to Events.
[[nodiscard]] Answer decide_without_store(const ServiceDeps& deps, Answer&& undecided);

// Answers as decide() would, without charging: one call peeks all limits. A denial has the longest
// possible wait (decision_from_peek()).
void peek(const ServiceDeps& deps, Answer answer, base::Deadline deadline,
          std::function<void(Answer)> answered);

// See Backend::usage().
void read_usage(const ServiceDeps& deps, Answer answer, base::Deadline deadline,
                std::function<void(const Result<Answer>&)> answered);

}  // namespace penstock::service
