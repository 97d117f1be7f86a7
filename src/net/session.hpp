#pragma once

#include "net/statistics.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace penstock::net {

// What a connection has to do next for its session.
enum class Step : std::uint8_t {
  Read,    // fill prepare(), commit(), then advance() again; output may be sent meanwhile
  Write,   // send all output, then advance() again
  Wait,    // until on_output is called, then advance() again
  Close,   // read no more; send the output until is_done(), then close
  Switch,  // continue_on() goes on with another protocol
};

// How a session ends its connection by itself, with `on_close`.
enum class CloseMode : std::uint8_t {
  Sending,  // only the direction to the client; TLS has no half-close, and is closed
  Now,
  Reset,  // the client cannot take what it has received for complete
};

// The phase of a session, and the request it belongs to. A phase gets its time limit anew when the
// phase or the request changes.
struct Activity {
  Phase phase = Phase::Idle;
  std::uint64_t request = 0;

  friend bool operator==(const Activity&, const Activity&) = default;
};

enum class TimeoutAction : std::uint8_t {
  Abort,     // close the connection, after what the socket takes at once of the output
  Reject,    // the output has an error response: send it, then close
  Continue,  // not a timeout: go on with activity()
};

// One protocol, without the I/O. ServerConnection owns the socket and calls these members, which
// are resolved at compile time.
//
//   advance()          processes the input that is there
//   take_output()      bytes to send, valid until the next call; empty when there are none
//   on_output          the session calls it for output that is produced outside advance()/commit()
//   activity()         chooses the time limit; called before each wait
//   on_timeout()       the time limit of that phase has passed
//   closes_silently()  a stopping server may close the connection now, without a word
//   detach()           the connection is closed: responses that come later are dropped
//
// Optional:
//   drain(), close_when_idle()    for protocols that tell their clients (GOAWAY)
//   on_sent(waited, bytes)        false for a client that reads too slowly; progress restarts the
//                                 time limit of writes
//   on_protocol(name)             of ALPN, after the TLS handshake
//   reload()                      for sessions that hold copies of options
//   continue_on(stream, slot)     takes the socket over, for Step::Switch
//   on_end()                      the client has closed its direction; true: the session goes on
//   on_close                      the session calls it to close the connection
//   kFlushesAtOnce                on_output sends at once, not at the end of the loop's turn
template <class T>
concept Session = requires(T* session, std::size_t size, Phase phase) {
  { session->advance() } -> std::same_as<Step>;
  { session->prepare() } -> std::same_as<std::span<char>>;
  session->commit(size);
  { session->take_output() } -> std::same_as<std::string_view>;
  { session->is_done() } -> std::same_as<bool>;
  { session->activity() } -> std::same_as<Activity>;
  { session->on_timeout(phase) } -> std::same_as<TimeoutAction>;
  { session->closes_silently() } -> std::same_as<bool>;
  session->detach();
  session->on_output = std::function<void()>();
};

}  // namespace penstock::net
