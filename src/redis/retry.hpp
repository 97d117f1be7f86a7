#pragma once

#include "penstock/result.hpp"
#include "redis/server_error.hpp"

#include <chrono>
#include <cstdint>
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

// How long to wait before a command is sent for the n-th time. n = 1: the first repetition.
[[nodiscard]] std::chrono::milliseconds retry_pause(unsigned n) noexcept;

// What a caller is told about an error reply.
[[nodiscard]] Error error_for_caller(const ServerError& error, std::string_view text);

}  // namespace penstock::redis
