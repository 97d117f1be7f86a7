#pragma once

#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace penstock::app {

inline constexpr const char* kMemoryStore = "memory://";
inline constexpr const char* kStoreVariable = "PENSTOCK_STORE";

// Where usage is kept, as typed.
struct StoreArguments {
  std::string url;  // a password in it must never be printed
  std::string prefix = "penstock";
  std::string timeout = "1s";
  std::string ca{};
  std::string certificate{};
  std::string key{};

  [[nodiscard]] bool is_memory() const { return url == kMemoryStore; }
};

// --timeout, --ca, --cert and --key.
void add_connection_options(CLI::App& command, StoreArguments& arguments);
// --store, which may also come from the environment. What `arguments` has for a URL is the default;
// without one it must be given.
void add_url_option(CLI::App& command, StoreArguments& arguments);
// All of these, and --prefix.
void add_store_options(CLI::App& command, StoreArguments& arguments);

// For the footer of --help.
extern const char* const kStoreHelp;

// The options of a store that is shared; the error names what cannot work, and an in-memory store
// is one: `what` says what would be pointless there.
[[nodiscard]] Result<RedisOptions> redis_options(const StoreArguments& arguments,
                                                 std::string_view what);

}  // namespace penstock::app
