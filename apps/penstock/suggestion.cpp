#include "apps/penstock/suggestion.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::app {
namespace {

// Edits that turn one word into the other; swapping two neighbours is one edit.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> edits(from.size() + 1,
                                              std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = edits[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      edits[i][j] = std::min({replaced, edits[i - 1][j] + 1, edits[i][j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
  }
  return edits[from.size()][to.size()];
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::optional<std::string> closest(std::string_view typed,
                                   std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t fewest = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t edits = distance(typed, candidate);
    if (edits * 3 > candidate.size() || (best && edits >= fewest)) continue;
    best = candidate;
    fewest = edits;
  }
  return best;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

std::string describe_unknown(const CLI::App& command, const std::string& argument) {
  const bool is_option = argument.starts_with('-');
  const std::string name = is_option ? argument.substr(0, argument.find('=')) : argument;
  const std::vector<std::string> known =
      is_option ? option_names(command) : subcommand_names(command);
  const std::string kind = is_option ? "option" : known.empty() ? "argument" : "subcommand";
  std::string text = "unknown " + kind + " \"" + name + "\"";
  if (const std::optional<std::string> meant = closest(name, known)) {
    text += "; did you mean " + *meant + "?";
  }
  return text;
}

}  // namespace penstock::app
