#pragma once

#include "core/terms.hpp"
#include "penstock/check.hpp"

#include <string>

namespace penstock::core {

// Which count: of whom ("api_key=abc", empty for everybody), and under which limit ("api/search",
// empty for a limit without a name). Counts of one subject live on one server of a cluster.
struct CountName {
  std::string subject;
  std::string limit;

  friend auto operator<=>(const CountName&, const CountName&) = default;
};

// One question about a count, with its name kept.
struct NamedCheck {
  CountName name;
  Quota quota;
  Cost cost{};
  Terms terms{};
};

}  // namespace penstock::core
