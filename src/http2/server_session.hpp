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

// When the client gets new window for its data: Automatic as soon as it is read, Manual with
// consume(), for proxies that pass it on to a slower peer.
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
  // Time between a complete response and RST_STREAM for a client that is still sending. Its data is
  // discarded meanwhile, and gets no new window. Clients that read a response and the reset behind
  // it at once lose the response. 0: reset at once.
  std::chrono::steady_clock::duration linger{};
  // Between two pings of a client that has no stream open. One that pings more often gets GOAWAY
  // with "too_many_pings", as gRPC servers do it. 0: any number.
  std::chrono::steady_clock::duration min_ping_interval{};
};

// The HTTP/2 of one connection, without a socket: bytes in, bytes out.
//
//   receive()      what the client sent, in any portions; calls on_request() and StreamEvents
//   take_output()  all that is to be sent by now, in one piece
//   is_finished()  nothing more can come: close when the output is sent
//
// A turn of the event loop is: receive, respond to what can be answered at once, take_output, write
// it. Later responses call respond() or resume(), and then take_output() must be called.
//
// Bounded: by the options, for each stream and for the connection. Protocol violations, and floods
// of acknowledgements, settings, resets and continuations, end the connection with GOAWAY. A stream
// that the client makes us reset counts as one that it resets.
//
// Thread-safety: none. `respond`, `send_interim`, `resume`, `consume` and `reset` may be called
// from within all events; nothing else may. They do nothing for a stream that is closed.
class ServerSession {
 public:
  // `requests` outlives the session, and so do the StreamEvents and BodySources of open streams,
  // which get no event when the session is destroyed.
  ServerSession(RequestEvents& requests, const SessionOptions& options);
  ~ServerSession();
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  // False after a protocol violation that leaves no way to send GOAWAY: close.
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
  // Requests so far. Pings, settings and unknown frames do not count.
  [[nodiscard]] std::uint64_t requests() const noexcept;

  // The whole response when there is no body; else its head, and `body` is read until it ends or
  // the stream is closed. The first of `head` is ":status". A client that is still sending its
  // request at the end gets RST_STREAM. REQUIRES: once per stream.
  void respond(StreamId stream, std::span<const Field> head, BodySource* body = nullptr);
  // An interim answer: 100, 103.
  void send_interim(StreamId stream, std::span<const Field> head);
  // A body that said Deferred has more now.
  void resume(StreamId stream);
  // With FlowControl::Manual: `bytes` of on_data() have been processed.
  void consume(StreamId stream, std::size_t bytes);
  // Ends the stream without (the rest of) an answer.
  void reset(StreamId stream, ErrorCode why);

  // Resets streams of clients that are still sending when `linger` has passed since the response.
  // Returns when this is to be called again; Deadline::max() when no stream lingers.
  [[nodiscard]] base::Deadline end_lingering(base::Deadline now);

  // Any input after it shows that the client is alive.
  void ping();

  // Graceful shutdown in two steps (RFC 9113, 6.8): a GOAWAY against new streams, and when the
  // client has acknowledged it, one with the last stream that is processed. Finished when all are.
  void begin_shutdown();
  // The second step without waiting for the client, which had its time since the first: streams
  // that cross it are not processed, and the client knows it.
  void end_shutdown();
  // Sends GOAWAY at once: open streams are dropped.
  void terminate(ErrorCode why);

 private:
  struct Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::http2
