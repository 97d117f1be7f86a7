#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::redis {

// What an error reply of a server means for whoever sent the command.
enum class ErrorKind : std::uint8_t {
  // The command was not executed; it may be sent again, within the deadline.
  Moved,        // another node has the slot, for good
  Ask,          // another node has this key, this once
  TryAgain,     // the slot is on its way; the same node, a little later
  NoScript,     // the script is not loaded
  Unavailable,  // not now: loading, a replica, out of memory, busy, cluster down …
  // Sending it again will not help.
  Misconfigured,  // wrong password, missing permission, too many clients: for the operator to mend
  WrongType,      // the key holds something that is not ours
  Other,          // anything else; may have been executed in part
};

struct ServerError {
  ErrorKind kind = ErrorKind::Other;
  // Of Moved and Ask: the slot and where to go. An empty host means the one that answered.
  std::uint16_t slot = 0;
  std::string host{};
  std::uint16_t port = 0;
};

// Whether the command certainly had no effect.
[[nodiscard]] constexpr bool was_not_executed(ErrorKind kind) noexcept {
  return kind == ErrorKind::Moved || kind == ErrorKind::Ask || kind == ErrorKind::TryAgain ||
         kind == ErrorKind::NoScript || kind == ErrorKind::Unavailable;
}

// Reads the text of an error reply, without its leading "-". A redirect that cannot be read is
// Other.
[[nodiscard]] ServerError read_server_error(std::string_view text);

}  // namespace penstock::redis
