#include "apps/command_line/command_description.hpp"

namespace penstock::app {
namespace {

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription described{.positional = !option.nonpositional(),
                              .required = option.get_required(),
                              .description = option.get_description(),
                              .default_value = option.get_default_str(),
                              .variable = option.get_envname()};
  if (described.positional) {
    described.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  }
  if (option.get_items_expected_max() > 0) described.value = option.get_type_name();
  described.repeated = option.get_items_expected_max() > 1;
  return described;
}

}  // namespace

std::vector<std::string> OptionDescription::choices() const {
  if (value.find('|') == std::string::npos) return {};
  return CLI::detail::split(value, '|');
}

std::vector<CommandDescription> with_nested(const std::vector<CommandDescription>& commands) {
  std::vector<CommandDescription> all;
  for (const CommandDescription& command : commands) {
    all.push_back(command);
    for (CommandDescription nested : command.commands) {
      nested.name = command.name + " " + nested.name;
      all.push_back(std::move(nested));
    }
  }
  return all;
}

CommandDescription describe(const CLI::App& app) {
  CommandDescription described{
      .name = app.get_name(), .description = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) described.options.push_back(describe_option(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) described.commands.push_back(describe(*command));
  }
  return described;
}

}  // namespace penstock::app
