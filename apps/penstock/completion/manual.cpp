#include "apps/penstock/completion/manual.hpp"

#include <map>

namespace penstock::app {
namespace {

constexpr const char* kManualHead =
    R"(.\" Written by `penstock manual`; `make manual` updates this file.
.TH PENSTOCK 1 "" "penstock" "User commands"
.SH NAME
penstock \- distributed rate limiter
.SH SYNOPSIS
.B penstock
.I COMMAND
.RI [ OPTION ...]
.SH DESCRIPTION
Penstock is a rate-limit service for proxies and applications. This program runs the daemon and has
the tools to operate it. Without a command it prints the first steps.
)";

constexpr const char* kManualTail = R"(.SH FILES
.TP
.I ./penstock.yaml
the configuration that
.B serve
uses without
.BR \-\-config ,
if it exists
.TP
.I /etc/penstock/penstock.yaml
otherwise this one; also the configuration of the service
.TP
.I /usr/share/doc/penstock
documentation;
.I examples
has configurations for Penstock and for proxies
.SH SEE ALSO
.BR penstock\-bench (1),
.BR systemctl (1),
.BR redis\-server (1)
)";

// Characters with a meaning in roff.
std::string roff(const std::string& text) {
  std::string result;
  bool line_starts = true;
  for (const char letter : text) {
    if (line_starts && (letter == '.' || letter == '\'')) result += "\\&";
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
    line_starts = letter == '\n';
  }
  return result;
}

// "[OPTION...] KEY" of a command.
std::string usage_of(const CommandDescription& command) {
  std::string usage;
  for (const OptionDescription& option : command.options) {
    if (option.positional) {
      const std::string name = option.names.front() + (option.repeated ? "..." : "");
      usage += " " + (option.required ? name : "[" + name + "]");
    } else if (option.required && option.variable.empty()) {
      usage += " " + option.names.front() + " " + option.value;
    }
  }
  return usage;
}

std::string option_entry(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + roff(name);
  }
  std::string entry = ".TP\n\\fB" + names + "\\fR";
  if (!option.positional && !option.value.empty()) entry += " \\fI" + roff(option.value) + "\\fR";
  entry += "\n" + roff(option.description);
  if (option.required) entry += "; required";
  if (!option.default_value.empty()) entry += "; default " + roff(option.default_value);
  if (!option.variable.empty()) entry += "; environment " + option.variable;
  return entry + "\n";
}

std::string command_section(const CommandDescription& command) {
  std::string text = ".TP\n.B " + command.name + roff(usage_of(command)) + "\n" +
                     roff(command.description) + ".\n";
  if (!command.options.empty()) text += ".RS\n";
  for (const OptionDescription& option : command.options) text += option_entry(option);
  if (!command.options.empty()) text += ".RE\n";
  if (command.footer.empty()) return text;
  return text + ".IP\n.nf\n" + roff(command.footer) + "\n.fi\n";
}

// The options of each environment variable.
std::string environment_section(const CommandDescription& program) {
  std::map<std::string, std::string> variables{
      {"NO_COLOR", "If it is set, output has no colours."}};
  for (const CommandDescription& command : with_nested(program.commands)) {
    for (const OptionDescription& option : command.options) {
      if (option.variable.empty()) continue;
      variables[option.variable] = "The value of " + option.names.front() +
                                   ", if it is not given: " + option.description + ".";
    }
  }
  std::string text = ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : variables) {
    text += ".TP\n.B " + name + "\n" + roff(meaning) + "\n";
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandDescription& program) {
  std::string text = std::string(kManualHead) + ".SH OPTIONS\n";
  for (const OptionDescription& option : program.options) text += option_entry(option);
  text += ".SH COMMANDS\n";
  for (const CommandDescription& command : with_nested(program.commands)) {
    text += command_section(command);
  }
  text += environment_section(program);
  if (!program.footer.empty()) text += ".SH EXAMPLES\n.nf\n" + roff(program.footer) + "\n.fi\n";
  return text + kManualTail;
}

}  // namespace penstock::app
