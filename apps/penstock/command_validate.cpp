#include "apps/penstock/commands.hpp"
#include "rules/configuration.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;
using Severity = rules::Diagnostic::Severity;

struct ValidateArguments {
  std::vector<std::filesystem::path> files;
  bool json = false;
};

std::string summary(const rules::Loaded& loaded) {
  if (!loaded.configuration) {
    const auto errors = std::count_if(
        loaded.diagnostics.begin(), loaded.diagnostics.end(),
        [](const rules::Diagnostic& each) { return each.severity == Severity::Error; });
    return std::to_string(errors) + (errors == 1 ? " error" : " errors");
  }
  const std::size_t rules = loaded.configuration->rules->rules().size();
  const std::size_t files = loaded.configuration->files.size();
  return "ok: " + std::to_string(rules) + (rules == 1 ? " rule" : " rules") + " in " +
         std::to_string(files) + (files == 1 ? " file" : " files");
}

Json as_json(const rules::Loaded& loaded) {
  Json diagnostics = Json::array();
  for (const rules::Diagnostic& each : loaded.diagnostics) {
    diagnostics.push_back({{"severity", each.severity == Severity::Error ? "error" : "warning"},
                           {"file", each.file},
                           {"line", each.line},
                           {"column", each.column},
                           {"message", each.message}});
  }
  return {{"valid", loaded.configuration.has_value()}, {"diagnostics", diagnostics}};
}

int run(const ValidateArguments& arguments) {
  const rules::Loaded loaded = rules::load(arguments.files);
  if (arguments.json) {
    std::cout << as_json(loaded).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    for (const rules::Diagnostic& each : loaded.diagnostics) std::cerr << to_string(each) << '\n';
    (loaded.configuration ? std::cout : std::cerr) << summary(loaded) << '\n';
  }
  return loaded.configuration ? kExitAllowed : kExitBadInput;
}

}  // namespace

void add_validate_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command = app.add_subcommand("validate", "Check configurations, without starting");
  command->add_option("FILE", arguments->files, "Configurations, or directories of them")
      ->required();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(
      "Several files are one configuration, as `penstock serve` would read them.\n\n"
      "Exit codes: 0 valid, 2 not.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace penstock::app
