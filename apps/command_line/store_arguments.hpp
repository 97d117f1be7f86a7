#pragma once

#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace penstock::app {

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
