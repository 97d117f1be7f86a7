#include "service/answer.hpp"

namespace penstock::service {

std::string_view to_string(Reason reason) noexcept {
  switch (reason) {
    case Reason::NoRule: return "no_rule";
    case Reason::WithinLimits: return "within_limits";
    case Reason::OverLimit: return "over_limit";
    case Reason::AllowListed: return "allow_listed";
    case Reason::DenyListed: return "deny_listed";
    case Reason::FailedOpen: return "failed_open";
    case Reason::FailedClosed: return "failed_closed";
    case Reason::DecidedLocally: return "decided_locally";
    case Reason::MissingAttribute: return "missing_attribute";
    case Reason::UnknownDomain: return "unknown_domain";
  }
  return "unknown";
}

}  // namespace penstock::service
