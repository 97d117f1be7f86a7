#pragma once

#include "answer/rate_headers.hpp"
#include "gateway/http1/body_framing.hpp"
#include "net/asio_types.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::gateway {

// The head of an answer as a client gets it. The texts outlive the call that it is given to.
struct ClientResponseHead {
  unsigned status = 200;
  std::string_view reason{};
  std::span<const Field> fields{};  // of the upstream, what was about its connection gone
  const answer::HeaderFields* ours = nullptr;  // to be added, if any
  BodyFraming body{};       // Chunked and UntilClose: nobody knows how long it is
  bool has_length = false;  // the fields say how long the body is
  bool has_date = false;
};

enum class Last : std::uint8_t { No, Yes };

// A client that waits for one answer, whatever it speaks. What it sends and takes is held back
// until the other side keeps up. Answers of false mean that it is gone.
//
// Thread-safety: none.
class Downstream {
 public:
  Downstream() = default;
  Downstream(const Downstream&) = delete;
  Downstream& operator=(const Downstream&) = delete;
  virtual ~Downstream() = default;

  // The head of the request is not looked at any more.
  virtual void release_head() = 0;

  // Of its body: what has arrived and is not consumed.
  struct BodyPiece {
    std::string_view data{};
    bool is_last = false;    // nothing comes behind it
    bool is_broken = false;  // not a body at all
  };
  [[nodiscard]] virtual BodyPiece body() = 0;
  virtual void consume_body() = 0;  // what body() has returned
  [[nodiscard]] virtual net::Awaitable<bool> more_body() = 0;
  virtual void interrupt_body() = 0;  // who waits for more gets false
  // Fields behind the body, once the last piece is there.
  [[nodiscard]] virtual std::span<const Field> body_trailers() = 0;

  // 100, 103: before the answer, any number of times.
  [[nodiscard]] virtual net::Awaitable<bool> send_interim(const ClientResponseHead& head) = 0;
  // The head and the first piece of the body.
  [[nodiscard]] virtual net::Awaitable<bool> send_head(const ClientResponseHead& head,
                                                       std::string_view data, Last last,
                                                       std::span<const Field> trailers) = 0;
  [[nodiscard]] virtual net::Awaitable<bool> send_body(std::string_view data, Last last,
                                                       std::span<const Field> trailers) = 0;
  // Ends the answer so that the client sees that something is missing.
  virtual void abort_response() = 0;

  // The bare connection, after 101; null where there is no such thing.
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
