#pragma once

#include "penstock/result.hpp"
#include "redis/server_error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::redis {

// What to do with a command that was answered by an error, where there is but one server to ask. Of
// a cluster, see ClusterRouter.
enum class Retry : std::uint8_t {
  No,              // tell the caller
  WithScriptText,  // at once, as EVAL
  Later,           // after a pause, if the deadline allows
  AfterReconnect,  // later, and over a new connection: this server is no longer the one to write to
};

[[nodiscard]] Retry retry_after(const ServerError& error, std::string_view text);

// How long to wait before a command is sent again, when so much time is left until its deadline.
// n = 1: the first repetition. Pauses double, up to a limit and up to half of what is left, so that
// it is retried until the deadline. Empty when there is no time for another attempt.
[[nodiscard]] std::optional<std::chrono::microseconds> retry_pause(
    unsigned n, std::chrono::steady_clock::duration left) noexcept;

// What a caller is told about an error reply.
[[nodiscard]] Error error_for_caller(const ServerError& error, std::string_view text);

}  // namespace penstock::redis
