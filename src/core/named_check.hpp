#pragma once

#include "core/sharing_terms.hpp"
#include "penstock/check.hpp"

#include <string>

namespace penstock::core {

// The name of a limit's usage: the subject ("api_key=abc", empty for a limit of all requests) and
// the limit ("api/search", empty for a limit without a name). Usage of one subject lives in one
// slot of a cluster.
struct LimitKey {
  std::string subject;
  std::string limit;

  friend auto operator<=>(const LimitKey&, const LimitKey&) = default;
};

// A check of one limit that owns its name.
struct NamedCheck {
  LimitKey name;
  Quota quota;
  Cost cost{};
  SharingTerms terms{};
};

}  // namespace penstock::core
