#include "apps/command_line/unknown_argument.hpp"

#include "rules/yaml/diagnostic.hpp"

#include <string_view>

namespace penstock::app {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

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
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string_view meant = rules::closest_word(name, candidates);
  if (!meant.empty()) text += "; did you mean " + std::string(meant) + "?";
  return text;
}

}  // namespace penstock::app
