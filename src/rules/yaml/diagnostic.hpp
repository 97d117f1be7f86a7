#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock::rules {

// A mistake in a configuration, with its position and the expected value.
struct Diagnostic {
  enum class Severity : std::uint8_t { Error, Warning };
  Severity severity = Severity::Error;
  std::string file;
  std::size_t line = 0;    // from 1; 0 when it is about the whole file
  std::size_t column = 0;  // from 1
  std::string message;
};
// "penstock.yaml:12:9: error: ..."
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

using Diagnostics = std::vector<Diagnostic>;

// Further diagnostics are dropped; the last one says so.
inline constexpr std::size_t kMaxDiagnostics = 200;

void report(Diagnostics& diagnostics, Diagnostic diagnostic);
[[nodiscard]] bool has_error(std::span<const Diagnostic> diagnostics);

}  // namespace penstock::rules
