#pragma once

#include "penstock/decision.hpp"

#include <ostream>

namespace penstock {

// Used by RapidCheck to print a counterexample.
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

// Used by GoogleTest to print a mismatch.
inline void PrintTo(const Decision& decision, std::ostream* out) { showValue(decision, *out); }

}  // namespace penstock
