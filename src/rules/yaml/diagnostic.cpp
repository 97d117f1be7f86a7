#include "rules/yaml/diagnostic.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace penstock::rules {
namespace {

// Words longer than this resemble no key, and comparing them would take long.
constexpr std::size_t kMaxWord = 64;

// Edits that turn one word into the other; swapping two neighbours is one edit.
std::size_t distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> edits((from.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return edits[i * width + j];
  };
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      const std::size_t replaced = at(i - 1, j - 1) + (from[i - 1] == to[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(from.size(), to.size());
}

}  // namespace

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

std::string quote_value(std::string_view value, char quote) {
  constexpr std::size_t kMost = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text(1, quote);
  for (const char c : value.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += "\\x";
      text += kHex[byte >> 4U];
      text += kHex[byte & 0xfU];
    } else {
      text += c;
    }
  }
  if (value.size() > kMost) text += "...";
  return text + quote;
}

std::string_view closest_word(std::string_view typed, std::span<const std::string_view> candidates,
                              std::size_t max_edits) {
  std::string_view best;
  std::size_t fewest = 0;
  if (typed.size() > kMaxWord) return best;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kMaxWord) continue;
    const std::size_t edits = distance(typed, candidate);
    if (edits > max_edits || edits * 3 > candidate.size() || (!best.empty() && edits >= fewest)) {
      continue;
    }
    best = candidate;
    fewest = edits;
  }
  return best;
}

std::string did_you_mean(std::string_view word) {
  return word.empty() ? std::string{} : "; did you mean '" + std::string(word) + "'?";
}

std::string suggestion(std::string_view typed, std::span<const std::string_view> candidates) {
  return did_you_mean(closest_word(typed, candidates));
}

}  // namespace penstock::rules
