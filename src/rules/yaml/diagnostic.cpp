#include "rules/yaml/diagnostic.hpp"

#include <algorithm>
#include <utility>

namespace penstock::rules {

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) {
    text += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  }
  text += diagnostic.severity == Diagnostic::Severity::Error ? ": error: " : ": warning: ";
  return text + diagnostic.message;
}

void report(Diagnostics& diagnostics, Diagnostic diagnostic) {
  if (diagnostics.size() > kMaxDiagnostics) {
    // an omitted error is still an error
    if (diagnostic.severity == Diagnostic::Severity::Error) {
      diagnostics.back().severity = Diagnostic::Severity::Error;
    }
    return;
  }
  if (diagnostics.size() == kMaxDiagnostics) {
    diagnostic = {.severity = diagnostic.severity,
                  .file = std::move(diagnostic.file),
                  .message = "more than this is left out"};
  }
  diagnostics.push_back(std::move(diagnostic));
}

bool has_error(std::span<const Diagnostic> diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::Error;
  });
}

}  // namespace penstock::rules
