#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
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

// A value for messages: quoted, truncated when long, control characters escaped.
[[nodiscard]] std::string quote_value(std::string_view value, char quote = '"');

// The candidate that was most likely meant: at most a third of its letters wrong, missing, added or
// swapped with the next. Empty when none is that close.
[[nodiscard]] std::string_view closest_word(
    std::string_view typed, std::span<const std::string_view> candidates,
    std::size_t max_edits = std::numeric_limits<std::size_t>::max());

// "; did you mean 'limit'?", or nothing for no word.
[[nodiscard]] std::string did_you_mean(std::string_view word);
// The same for the closest candidate.
[[nodiscard]] std::string suggestion(std::string_view typed,
                                     std::span<const std::string_view> candidates);

}  // namespace penstock::rules
