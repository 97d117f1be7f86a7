#include "apps/penstock/completion/completion.hpp"

namespace penstock::app {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  return CLI::detail::join(words, separator);
}

std::string names_of(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    if (option.positional) continue;
    for (const std::string& name : option.names) names.push_back(name);
  }
  return joined(names, " ");
}

std::string reply_with(const OptionDescription& option) {
  if (option.is_file()) return "_penstock_files; return";
  const std::vector<std::string> choices = option.choices();
  if (choices.empty()) return "return";
  return "_penstock_words '" + joined(choices, " ") + "'; return";
}

// A case for the value of each option: `'check':--ca) _penstock_files; return ;;`.
std::string value_cases(const CommandDescription& command) {
  std::string cases;
  for (const OptionDescription& option : command.options) {
    if (option.positional || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back("'" + command.name + "':" + name);
    }
    cases += "    " + joined(patterns, "|") + ") " + reply_with(option) + " ;;\n";
  }
  return cases;
}

std::vector<std::string> command_names(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  for (const CommandDescription& command : commands) names.push_back(command.name);
  return names;
}

// `'override set' | 'override list'`: commands of commands.
std::string nested_paths(const CommandDescription& program) {
  std::vector<std::string> paths;
  for (const CommandDescription& command : with_nested(program.commands)) {
    if (command.name.find(' ') != std::string::npos) paths.push_back("'" + command.name + "'");
  }
  return joined(paths, " | ");
}

// A case for the words of each command: options, and values of its positional argument.
std::string word_case(const CommandDescription& command) {
  std::string text = "    '" + command.name + "')\n      options='" + names_of(command) + "'\n";
  if (!command.commands.empty()) {
    text += "      words='" + joined(command_names(command.commands), " ") + "'\n";
  }
  for (const OptionDescription& option : command.options) {
    if (!option.positional) continue;
    if (option.is_file()) text += "      files=yes\n";
    if (!option.choices().empty()) text += "      words='" + joined(option.choices(), " ") + "'\n";
  }
  return text + "      ;;\n";
}

constexpr const char* kBashHead =
    R"(# bash completion for penstock. Written by `penstock completion bash`.
_penstock_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_penstock_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_penstock() {
  local cur prev command='' options='' words='' files='' i
  cur=${COMP_WORDS[COMP_CWORD]}
  prev=${COMP_WORDS[COMP_CWORD - 1]}
  # --option=value arrives as three words
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  if ((i + 1 < COMP_CWORD)); then
    case "$command ${COMP_WORDS[i + 1]}" in
      )";

constexpr const char* kBashNested = R"() command+=" ${COMP_WORDS[i + 1]}" ;;
    esac
  fi
)";

constexpr const char* kBashTail = R"(  if [[ $cur == -* ]]; then
    _penstock_words "$options"
  elif [[ $words ]]; then
    _penstock_words "$words"
  elif [[ $files ]]; then
    _penstock_files
  fi
}
complete -F _penstock penstock
)";

}  // namespace

std::string bash_completion(const CommandDescription& program) {
  std::string text = kBashHead + nested_paths(program) + kBashNested;
  text += "  case $command:$prev in\n";
  const std::vector<CommandDescription> commands = with_nested(program.commands);
  for (const CommandDescription& command : commands) text += value_cases(command);
  text += "  esac\n  case $command in\n    '')\n      options='" + names_of(program) +
          "'\n      words='" + joined(command_names(program.commands), " ") + "'\n      ;;\n";
  for (const CommandDescription& command : commands) text += word_case(command);
  return text + "  esac\n" + kBashTail;
}

}  // namespace penstock::app
