#pragma once

#include "penstock/check.hpp"
#include "penstock/limits.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"
#include "redis/options.hpp"
#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"

#include <span>
#include <string>
#include <string_view>

// Conversion of public API arguments for the store.
namespace penstock::redis_store {

[[nodiscard]] CheckRequest request_for(const KeyLayout& layout, std::string_view key,
                                       const Limits& limits, Cost cost);
[[nodiscard]] CheckRequest request_for(const KeyLayout& layout, std::span<const Check> checks);

// The options for the client; an error names the invalid option.
[[nodiscard]] Result<redis::Options> client_options(const RedisOptions& options);
// Whether certificates and keys are usable, if the URL uses TLS. Reads the files, and does not
// connect.
[[nodiscard]] Result<void> check_tls_files(const redis::Options& client);

// Whether two URLs refer to the same server, regardless of user and password.
[[nodiscard]] bool same_server(const std::string& a, const std::string& b);

[[nodiscard]] RedisStats public_stats(const redis::ClientStats& stats);

}  // namespace penstock::redis_store
