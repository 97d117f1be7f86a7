#pragma once

#include "penstock/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::redis {

// Meaning of an error reply for the sender of the command.
enum class ErrorKind : std::uint8_t {
  // The command was not executed; it may be sent again, within the deadline.
  Moved,        // another node owns the slot
  Ask,          // another node has this key, for this command only
  TryAgain,     // the slot is migrating; retry on the same node
  NoScript,     // the script is not loaded
  Unavailable,  // not now: loading, a replica, out of memory, busy, cluster down …
  // A retry will not help.
  Misconfigured,  // wrong password, missing permission, too many clients: the operator's to fix
  WrongType,      // the key holds a foreign value
  Other,          // anything else; may have been partly executed
};

struct ServerError {
  ErrorKind kind = ErrorKind::Other;
  // Of Moved and Ask: the slot and its new node. An empty host means the host that answered.
  std::uint16_t slot = 0;
  std::string host{};
  std::uint16_t port = 0;
};

// Whether the command had no effect.
[[nodiscard]] constexpr bool was_not_executed(ErrorKind kind) noexcept {
  return kind == ErrorKind::Moved || kind == ErrorKind::Ask || kind == ErrorKind::TryAgain ||
         kind == ErrorKind::NoScript || kind == ErrorKind::Unavailable;
}

// Parses the text of an error reply, without its leading "-". A malformed redirect is Other.
[[nodiscard]] ServerError read_server_error(std::string_view text);

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
