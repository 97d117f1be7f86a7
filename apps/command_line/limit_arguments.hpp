#pragma once

#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace penstock::app {

// Texts, because the errors of parse_number are clearer than those of CLI11.
struct LimitArguments {
  std::string limit;
  std::optional<std::string> burst{};
  std::optional<std::string> algorithm{};
};

// For the footer of --help.
extern const char* const kLimitHelp;

// Adds --limit (required), --burst and --algorithm.
void add_limit_options(CLI::App& command, LimitArguments& arguments);

[[nodiscard]] Result<Quota> read_quota(const LimitArguments& arguments);

// KEY, the first argument. It must not be empty.
void add_key_argument(CLI::App& command, std::string& key);
[[nodiscard]] Result<void> check_key(const std::string& key);

}  // namespace penstock::app
