#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "daemon/startup_check.hpp"
#include "rules/model/configuration.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;
using Severity = rules::Diagnostic::Severity;

struct ValidateArguments {
  std::vector<std::filesystem::path> files;
  bool json = false;
  bool strict = false;
};

struct Validation {
  rules::Loaded loaded;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  bool valid = false;
};

Validation validate(const ValidateArguments& arguments) {
  Validation outcome{.loaded = rules::load(arguments.files)};
  rules::Diagnostics& all = outcome.loaded.diagnostics;
  if (outcome.loaded.configuration) {
    for (rules::Diagnostic& each : daemon::check_startup(*outcome.loaded.configuration)) {
      report(all, std::move(each));
    }
  }
  outcome.errors = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(),
      [](const rules::Diagnostic& each) { return each.severity == Severity::Error; }));
  outcome.warnings = all.size() - outcome.errors;
  outcome.valid = outcome.errors == 0 && !(arguments.strict && outcome.warnings > 0);
  return outcome;
}

std::string summary(const Validation& outcome) {
  const auto text = [](std::size_t number, const char* what) {
    return std::to_string(number) + what + (number == 1 ? "" : "s");
  };
  const std::string warnings =
      outcome.warnings > 0 ? ", " + text(outcome.warnings, " warning") : std::string{};
  if (outcome.errors > 0) return text(outcome.errors, " error") + warnings;
  if (!outcome.valid) return text(outcome.warnings, " warning") + ", which --strict rejects";
  return "ok: " + text(outcome.loaded.configuration->rules->rules().size(), " rule") + " in " +
         text(outcome.loaded.configuration->files.size(), " file") + warnings;
}

// As to_string(), with a coloured severity.
std::string diagnostic_text(const rules::Diagnostic& diagnostic, Colour colour) {
  const bool is_error = diagnostic.severity == Severity::Error;
  const std::string word = is_error ? "error: " : "warning: ";
  const std::string text = to_string(diagnostic);
  const std::size_t place = text.size() - word.size() - diagnostic.message.size();
  return paint(std::string_view(text).substr(0, place), Style::Bold, colour) +
         paint(word, is_error ? Style::Bad : Style::Mixed, colour) + diagnostic.message;
}

Json as_json(const Validation& outcome) {
  Json diagnostics = Json::array();
  for (const rules::Diagnostic& each : outcome.loaded.diagnostics) {
    diagnostics.push_back({{"severity", each.severity == Severity::Error ? "error" : "warning"},
                           {"file", each.file},
                           {"line", each.line},
                           {"column", each.column},
                           {"message", each.message}});
  }
  return {{"valid", outcome.valid}, {"diagnostics", diagnostics}};
}

int run_validate(const ValidateArguments& arguments) {
  const Validation outcome = validate(arguments);
  if (arguments.json) {
    std::cout << as_json(outcome).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    const Colour colour = colour_of(STDERR_FILENO);
    for (const rules::Diagnostic& each : outcome.loaded.diagnostics) {
      std::cerr << diagnostic_text(each, colour) << '\n';
    }
    if (outcome.valid) {
      std::cout << mark(summary(outcome), Style::Good, colour_of(STDOUT_FILENO)) << '\n';
    } else {
      std::cerr << mark(summary(outcome), Style::Bad, colour) << '\n';
    }
  }
  return outcome.valid ? kExitAllowed : kExitBadInput;
}

}  // namespace

void add_validate_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command =
      app.add_subcommand("validate", "Check configurations without starting the daemon");
  command->add_option("FILE", arguments->files, "Configurations, or directories of them")
      ->required()
      ->type_name("FILE");
  command->add_flag("--strict", arguments->strict, "Treat warnings as errors");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->footer(
      "Several files are one configuration, as `penstock serve` would read them. Certificates, "
      "keys\n"
      "and other files that they name are checked too; ports and Redis are not. Warnings are "
      "about\n"
      "what is probably a mistake, such as a rule that never applies.\n\n"
      "Examples:\n"
      "  penstock validate penstock.yaml\n"
      "  penstock validate --strict rules.yaml settings.yaml\n\n"
      "Exit codes: 0 valid, 2 not; with --strict also 2 for a warning.");
  command->callback([arguments, &exit_code] { exit_code = run_validate(*arguments); });
}

}  // namespace penstock::app
