#pragma once

#include "penstock/decision.hpp"

#include <ostream>

namespace penstock {

// Found by RapidCheck when it prints a counterexample.
inline void showValue(const Decision& decision, std::ostream& out) {
  out << to_string(decision.outcome()) << " " << decision.remaining() << "/" << decision.limit()
      << ", reset after " << decision.reset_after().count() << " us, retry after ";
  if (decision.retry_after()) {
    out << decision.retry_after()->count() << " us";
  } else {
    out << "never";
  }
  out << ", decided by " << decision.decided_by();
}

// Found by GoogleTest when it prints what was not equal.
inline void PrintTo(const Decision& decision, std::ostream* out) { showValue(decision, *out); }

}  // namespace penstock
