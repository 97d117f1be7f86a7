#pragma once

#include "core/sharing_terms.hpp"
#include "penstock/check.hpp"

#include <string>

namespace penstock::core {

// Which count: of whom ("api_key=abc", empty for everybody), and under which limit ("api/search",
// empty for a limit without a name). Counts of one subject live on one server of a cluster.
struct LimitKey {
  std::string subject;
  std::string limit;

  friend auto operator<=>(const LimitKey&, const LimitKey&) = default;
};

// One question about a count, with its name kept.
struct NamedCheck {
  LimitKey name;
  Quota quota;
  Cost cost{};
  SharingTerms terms{};
};

}  // namespace penstock::core
