#include "apps/penstock/completion/completion.hpp"

namespace penstock::app {
namespace {

// Inside single quotes and brackets of an argument specification.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

// ":FILE:_files", ":a|b:(a b)", ":N: "; empty for a flag.
std::string zsh_value(const OptionDescription& option) {
  const std::string label = option.value.empty() ? option.names.front() : option.value;
  if (option.is_file()) return ":" + zsh_text(label) + ":_files";
  const std::vector<std::string> choices = option.choices();
  if (!choices.empty()) {
    return ":" + zsh_text(option.names.front()) + ":(" + CLI::detail::join(choices, " ") + ")";
  }
  return ":" + zsh_text(label) + ": ";
}

std::string specification(const OptionDescription& option, const std::string& name) {
  const std::string repeat = option.repeated ? "*" : "";
  if (option.positional) return "      '" + repeat + zsh_value(option) + "' \\\n";
  const bool is_flag = option.value.empty();
  // "=": the value follows it, or is the next word
  return "      '" + repeat + name + (is_flag ? "[" : "=[") + zsh_text(option.description) + "]" +
         (is_flag ? "" : zsh_value(option)) + "' \\\n";
}

std::string specifications(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    for (const std::string& name : option.names) text += specification(option, name);
  }
  return text;
}

// The names of the commands of a command, and all their options.
std::string nested_specifications(const CommandDescription& command) {
  if (command.commands.empty()) return {};
  std::string names;
  std::string options;
  for (const CommandDescription& nested : command.commands) {
    names += (names.empty() ? "" : " ") + nested.name;
    for (const OptionDescription& option : nested.options) {
      if (option.positional) continue;
      for (const std::string& name : option.names) {
        const std::string line = specification(option, name);
        const bool is_new = options.find("'" + name + "[") == std::string::npos &&
                            options.find("'" + name + "=[") == std::string::npos;
        if (is_new && name != "--help" && name != "-h") options += line;
      }
    }
  }
  return options + "      '1:command:(" + names + ")' \\\n      '*:argument: ' \\\n";
}

}  // namespace

std::string zsh_completion(const CommandDescription& program) {
  std::string text =
      "#compdef penstock\n"
      "# zsh completion for penstock. Written by `penstock completion zsh`.\n"
      "_penstock() {\n"
      "  local context state line\n"
      "  typeset -A opt_args\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CommandDescription& command : program.commands) {
    text += "    '" + command.name + ":" + zsh_text(command.description) + "'\n";
  }
  text += "  )\n  _arguments -C \\\n";
  text += specifications(program);
  text +=
      "      '1:command:->command' \\\n"
      "      '*::argument:->argument'\n"
      "  if [[ $state == command ]]; then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  case $line[1] in\n";
  for (const CommandDescription& command : program.commands) {
    const std::string all = specifications(command) + nested_specifications(command);
    if (all.empty()) continue;
    text += "    " + command.name + ")\n    _arguments \\\n" + all.substr(0, all.size() - 3) +
            "\n      ;;\n";
  }
  return text + "  esac\n}\n\n_penstock \"$@\"\n";
}

}  // namespace penstock::app
