#pragma once

#include "answer/rate_headers.hpp"
#include "gateway/http1/body_framing.hpp"
#include "net/asio_types.hpp"
#include "penstock/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::gateway {

// Detects a peer that transfers below the minimum rate: it may be behind by at most `grace`. Only
// time spent waiting for the peer counts, so that a slow upstream is not blamed on the client.
// Earlier speed is not credited: a fast start, or data that fills kernel buffers, does not allow
// slowness later. A timeout per piece does not detect a client that sends one byte at a time.
class TransferRate {
 public:
  // `bytes_per_second` of 0: no minimum rate.
  TransferRate(std::size_t bytes_per_second, Duration grace) noexcept
      : rate_(bytes_per_second), grace_(grace) {}

  // Records a wait of `time`, after which `bytes` were transferred.
  void waited(std::chrono::nanoseconds time, std::size_t bytes) noexcept {
    if (rate_ == 0) return;
    behind_ += time;
    // Whole seconds separately, which keeps the product small.
    behind_ -= std::chrono::seconds{bytes / rate_};
    behind_ -= std::chrono::nanoseconds{bytes % rate_ * kNanoseconds / rate_};
    behind_ = std::max(behind_, std::chrono::nanoseconds{0});
  }
  [[nodiscard]] bool is_too_slow() const noexcept { return behind_ > grace_; }

 private:
  static constexpr std::uint64_t kNanoseconds = 1'000'000'000;

  std::uint64_t rate_;
  std::chrono::nanoseconds grace_;
  std::chrono::nanoseconds behind_{0};
};

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

enum class SendResult : std::uint8_t {
  Sent,          // the client, or the buffer of its connection, has it
  Pending,       // await sent()
  Disconnected,  // the client has gone
};

// A client waiting for one response, independent of the HTTP version, with back-pressure in both
// directions.
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
  // False when no more arrives in time, or the client has disconnected.
  [[nodiscard]] virtual net::Awaitable<bool> more_body() = 0;
  virtual void interrupt_body() = 0;  // a waiting more_body() returns false
  // Fields after the body; valid once the last piece has arrived.
  [[nodiscard]] virtual std::span<const Field> body_trailers() = 0;

  // What is sent stays valid until it is taken; nothing is sent while something is pending.
  // Interim responses (100, 103), any number before the response:
  [[nodiscard]] virtual SendResult send_interim(const ClientResponseHead& head) = 0;
  // The head and the first piece of the body:
  [[nodiscard]] virtual SendResult send_head(const ClientResponseHead& head, std::string_view data,
                                             Last last, std::span<const Field> trailers) = 0;
  [[nodiscard]] virtual SendResult send_body(std::string_view data, Last last,
                                             std::span<const Field> trailers) = 0;
  // Waits until the client has taken what is pending. False when it has disconnected.
  [[nodiscard]] virtual net::Awaitable<bool> sent() = 0;
  // Ends the response so that the client can detect the truncation.
  virtual void abort_response() = 0;

  // After 101, whose head is sent as it is, the bodies of both directions are the bytes of the
  // connection, and their ends close one direction.
  [[nodiscard]] virtual bool can_switch_protocols() const noexcept { return false; }
  [[nodiscard]] virtual SendResult switch_protocols(std::string_view /*head*/) {
    return SendResult::Disconnected;
  }
};

}  // namespace penstock::gateway
