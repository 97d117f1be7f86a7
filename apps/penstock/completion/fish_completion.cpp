#include "apps/penstock/completion/completion.hpp"

namespace penstock::app {
namespace {

std::string fish_text(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "'";
}

std::string fish_value(const OptionDescription& option) {
  if (option.is_file()) return " -r -F";
  const std::vector<std::string> choices = option.choices();
  if (!choices.empty()) return " -x -a " + fish_text(CLI::detail::join(choices, " "));
  return option.value.empty() ? "" : " -x";
}

std::string fish_line(const std::string& condition, const OptionDescription& option) {
  std::string line = "complete -c penstock -n " + fish_text(condition);
  if (option.positional) {
    const bool completes = option.is_file() || !option.choices().empty();
    if (!completes) return {};
    // words of a positional argument, not the value of an option
    return line +
           (option.is_file() ? " -F"
                             : " -a " + fish_text(CLI::detail::join(option.choices(), " "))) +
           "\n";
  }
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
  }
  return line + fish_value(option) + " -d " + fish_text(option.description) + "\n";
}

}  // namespace

std::string fish_completion(const CommandDescription& program) {
  const std::string first = "__fish_use_subcommand";
  std::string text =
      "# fish completion for penstock. Written by `penstock completion fish`.\n"
      "complete -c penstock -f\n";
  for (const OptionDescription& option : program.options) text += fish_line(first, option);
  for (const CommandDescription& command : program.commands) {
    text += "complete -c penstock -n " + fish_text(first) + " -a " + command.name + " -d " +
            fish_text(command.description) + "\n";
  }
  for (const CommandDescription& command : program.commands) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    for (const OptionDescription& option : command.options) text += fish_line(condition, option);
    for (const CommandDescription& nested : command.commands) {
      text += "complete -c penstock -n " + fish_text(condition) + " -a " + nested.name + " -d " +
              fish_text(nested.description) + "\n";
      const std::string both = condition + "; and __fish_seen_subcommand_from " + nested.name;
      for (const OptionDescription& option : nested.options) text += fish_line(both, option);
    }
  }
  return text;
}

}  // namespace penstock::app
