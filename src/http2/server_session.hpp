#pragma once

#include "base/deadline.hpp"
#include "http2/stream.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace penstock::http2 {

// Who tells the client that there is room for more of its data: Automatic as soon as it is read,
// Manual when consume() says so, for whoever passes it on to somebody slower.
enum class FlowControl : std::uint8_t { Automatic, Manual };

struct SessionOptions {
  std::uint32_t max_streams = 1'000;      // at a time
  std::size_t max_header_bytes = 16'384;  // of a request: names, values, and 32 for each field
  std::uint32_t stream_window = 65'535;
  std::uint32_t connection_window = 1U << 20U;
  std::size_t max_output = std::size_t{1} << 20U;  // collected before the rest has to wait
  FlowControl flow_control = FlowControl::Automatic;
  // Frames that cost us work and bring nothing (streams reset by the client, empty data, settings,
  // priorities, pings, unknown frames, more window updates than there was data): a burst,
  // and a rate per second. More end the connection.
  std::uint32_t flood_burst = 1'000;
  std::uint32_t flood_rate = 1'000;
  // How long a client that is still sending has, after a complete answer, until it is told to stop
  // with RST_STREAM; what it sends meanwhile is discarded, and gets no new window. Clients that
  // read an answer and the reset behind it at once lose the answer. 0: told at once.
  std::chrono::steady_clock::duration linger{};
  // Between two pings of a client that has no stream open. One that pings more often gets GOAWAY
  // with "too_many_pings", as gRPC servers do it. 0: any number.
  std::chrono::steady_clock::duration min_ping_interval{};
};

// The HTTP/2 of one connection, without a socket: bytes in, bytes out.
//
//   receive()      what the client sent, in any portions; calls on_request() and StreamEvents
//   take_output()  all that is to be sent by now, in one piece
//   is_finished()  nothing more can come: close when the output is gone
//
// A turn of the event loop is: receive, let those answer who can, take_output, write it. Who
// answers later calls respond() or resume(), and sees to it that take_output() is called.
//
// Bounded: by the options, for each stream and for the connection. What the client sends against
// the protocol, and floods of acknowledgements, settings, resets and continuations, end the
// connection with GOAWAY. A stream that the client makes us reset counts as one that it resets.
//
// Thread-safety: none. `respond`, `send_interim`, `resume`, `consume` and `reset` may be called
// from within all events; nothing else may. They do nothing for a stream that is gone.
class ServerSession {
 public:
  // `requests` outlives the session, and so do the StreamEvents and BodySources of open streams,
  // who are not told when the session is destroyed.
  ServerSession(RequestEvents& requests, const SessionOptions& options);
  ~ServerSession();
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  // False when the client broke the protocol so that it cannot even be told: close.
  [[nodiscard]] bool receive(std::string_view bytes, base::Deadline now);
  // Valid until the next call. Empty when there is nothing to send.
  [[nodiscard]] std::string_view take_output();
  [[nodiscard]] bool has_output() const noexcept;
  [[nodiscard]] bool is_finished() const noexcept;
  [[nodiscard]] std::size_t open_streams() const noexcept;
  // The client has sent its preface and its SETTINGS: it speaks HTTP/2.
  [[nodiscard]] bool is_established() const noexcept;
  // A header block has begun, and its end has not arrived.
  [[nodiscard]] bool is_reading_head() const noexcept;
  // Requests so far. What else arrives (pings, settings, unknown frames) is not one.
  [[nodiscard]] std::uint64_t requests() const noexcept;

  // The whole answer when there is no body; else its head, and `body` is asked for the rest until
  // it ends or the stream is closed. The first of `head` is ":status". A client that is still
  // sending its request at the end is told to stop. REQUIRES: once per stream.
  void respond(StreamId stream, std::span<const Field> head, BodySource* body = nullptr);
  // An interim answer: 100, 103.
  void send_interim(StreamId stream, std::span<const Field> head);
  // A body that said Deferred has more now.
  void resume(StreamId stream);
  // With FlowControl::Manual: so many bytes of on_data() are done with.
  void consume(StreamId stream, std::size_t bytes);
  // Ends the stream without (the rest of) an answer.
  void reset(StreamId stream, ErrorCode why);

  // Tells clients that are still sending after their answer to stop, when `linger` has passed. The
  // time when this is to be called again; Deadline::max() when no stream lingers.
  [[nodiscard]] base::Deadline end_lingering(base::Deadline now);

  // Asks the client whether it is there; whatever it sends then says so.
  void ping();

  // Says goodbye in two steps (RFC 9113, 6.8): first that no more streams should be opened, and
  // when the client has seen that, which ones are still answered. Finished when they are.
  void begin_shutdown();
  // The second step without waiting for the client, which had its time since the first: streams
  // that cross it are not processed, and the client knows it.
  void end_shutdown();
  // Says goodbye at once: streams under way are dropped.
  void terminate(ErrorCode why);

 private:
  struct Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::http2
