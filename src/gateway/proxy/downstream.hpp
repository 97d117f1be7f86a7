#pragma once

#include "answer/rate_headers.hpp"
#include "gateway/http1/body_framing.hpp"
#include "net/asio_types.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::gateway {

// The head of a response to a client. Its texts outlive the call that receives it.
struct ClientResponseHead {
  unsigned status = 200;
  std::string_view reason{};
  std::span<const Field> fields{};             // of the upstream, without hop-by-hop fields
  const answer::HeaderFields* ours = nullptr;  // to be added, if any
  BodyFraming body{};                          // Chunked and UntilClose: length unknown
  bool has_length = false;                     // the fields contain Content-Length
  bool has_date = false;
};

enum class Last : std::uint8_t { No, Yes };

// A client waiting for one response, independent of the HTTP version, with back-pressure in both
// directions. Results of false mean that it has disconnected.
//
// Thread-safety: none.
class Downstream {
 public:
  Downstream() = default;
  Downstream(const Downstream&) = delete;
  Downstream& operator=(const Downstream&) = delete;
  virtual ~Downstream() = default;

  // The request head is no longer used.
  virtual void release_head() = 0;

  // The part of the request body that has arrived and is not consumed.
  struct BodyPiece {
    std::string_view data{};
    bool is_last = false;    // end of the body
    bool is_broken = false;  // malformed
  };
  [[nodiscard]] virtual BodyPiece body() = 0;
  virtual void consume_body() = 0;  // consumes what body() returned
  [[nodiscard]] virtual net::Awaitable<bool> more_body() = 0;
  virtual void interrupt_body() = 0;  // a waiting more_body() returns false
  // Fields after the body; valid once the last piece has arrived.
  [[nodiscard]] virtual std::span<const Field> body_trailers() = 0;

  // Interim responses (100, 103), any number before the response.
  [[nodiscard]] virtual net::Awaitable<bool> send_interim(const ClientResponseHead& head) = 0;
  // Sends the head and the first piece of the body.
  [[nodiscard]] virtual net::Awaitable<bool> send_head(const ClientResponseHead& head,
                                                       std::string_view data, Last last,
                                                       std::span<const Field> trailers) = 0;
  [[nodiscard]] virtual net::Awaitable<bool> send_body(std::string_view data, Last last,
                                                       std::span<const Field> trailers) = 0;
  // Ends the response so that the client can detect the truncation.
  virtual void abort_response() = 0;

  // The raw connection, after 101; null when not supported.
  class RawStream {
   public:
    RawStream() = default;
    RawStream(const RawStream&) = delete;
    RawStream& operator=(const RawStream&) = delete;
    virtual ~RawStream() = default;
    [[nodiscard]] virtual std::string_view received() = 0;
    virtual void consume(std::size_t bytes) = 0;
    [[nodiscard]] virtual net::Awaitable<bool> more() = 0;
    [[nodiscard]] virtual net::Awaitable<bool> send(std::string_view bytes) = 0;
    virtual void end_sending() = 0;
    virtual void close() = 0;
  };
  [[nodiscard]] virtual RawStream* raw_stream() { return nullptr; }
};

}  // namespace penstock::gateway
