#pragma once

#include "rules/model/configuration.hpp"

#include <string>

namespace penstock::reference {

// All diagnostics of a file, one per line.
inline std::string diagnostics_text(const rules::Loaded& loaded) {
  std::string all;
  for (const rules::Diagnostic& diagnostic : loaded.diagnostics) {
    all += to_string(diagnostic) + "\n";
  }
  return all;
}

}  // namespace penstock::reference
