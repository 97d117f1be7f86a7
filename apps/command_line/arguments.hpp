#pragma once

#include "penstock/quota.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Arguments that several subcommands have.
namespace penstock::app {

// Values of options. Errors name the option, the value and what was expected.
struct NumberRange {
  std::int64_t min = 0;
  std::int64_t max = 1'000'000'000;
};

[[nodiscard]] Result<std::int64_t> parse_number(std::string_view option, std::string_view text,
                                                NumberRange range);

// "250ms", "1s", "10m", "2h", "30d".
[[nodiscard]] Result<Duration> parse_duration(std::string_view option, std::string_view text,
                                              Duration min, Duration max);

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

inline constexpr const char* kMemoryStore = "memory://";
inline constexpr const char* kStoreVariable = "PENSTOCK_STORE";

// A store, as given on the command line.
struct StoreArguments {
  std::string url;  // a password in it must never be printed
  std::string prefix = "penstock";
  std::string timeout = "1s";
  std::string ca{};
  std::string certificate{};
  std::string key{};

  [[nodiscard]] bool is_memory() const { return url == kMemoryStore; }
};

// Adds --timeout, --ca, --cert and --key.
void add_connection_options(CLI::App& command, StoreArguments& arguments);
// Adds --store, with its environment variable. The default is the URL in `arguments`; without one
// the option is required.
void add_url_option(CLI::App& command, StoreArguments& arguments);
// Adds all of these, and --prefix.
void add_store_options(CLI::App& command, StoreArguments& arguments);

// For the footer of --help.
extern const char* const kStoreHelp;

// The options of a shared store. Fails for the memory store; `missing` completes the sentence
// "there is ...".
[[nodiscard]] Result<RedisOptions> redis_options(const StoreArguments& arguments,
                                                 std::string_view missing);

}  // namespace penstock::app
