#pragma once

#include "penstock/result.hpp"
#include "redis/server_error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::redis {

// What to do after an error reply when there is only one server. For a cluster see ClusterRouter.
enum class Retry : std::uint8_t {
  No,              // pass to the caller
  WithScriptText,  // at once, as EVAL
  Later,           // after a pause, if the deadline allows
  AfterReconnect,  // later, over a new connection: this server is no longer the master
};

[[nodiscard]] Retry retry_after(const ServerError& error, std::string_view text);

// How long to wait before a command is sent again, with `left` until its deadline. n = 1: the first
// retry. Pauses double, up to a limit and up to half of the time left, so that retries continue
// until the deadline. Empty when there is no time for another attempt.
[[nodiscard]] std::optional<std::chrono::microseconds> retry_pause(
    unsigned n, std::chrono::steady_clock::duration left) noexcept;

// The caller's error for an error reply.
[[nodiscard]] Error error_for_caller(const ServerError& error, std::string_view text);

}  // namespace penstock::redis
