#pragma once

#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace penstock::app {

// A limit as typed. Numbers stay text until parse_number, whose errors say more than CLI11's.
struct LimitArguments {
  std::string limit;
  std::optional<std::string> burst{};
  std::optional<std::string> algorithm{};
};

// For the footer of --help.
extern const char* const kLimitHelp;

// --limit, --burst and --algorithm. The limit must be given, unless the command says otherwise.
void add_limit_options(CLI::App& command, LimitArguments& arguments);

[[nodiscard]] Result<Quota> read_quota(const LimitArguments& arguments);

// KEY, the first argument. The error is of a key that is empty.
void add_key_argument(CLI::App& command, std::string& key);
[[nodiscard]] Result<void> check_key(const std::string& key);

}  // namespace penstock::app
