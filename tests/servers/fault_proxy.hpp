#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace penstock::servers {

enum class Direction : std::uint8_t { Requests, Replies };

// A proxy in front of one server at 127.0.0.1 that injects network faults. Faults add up until
// pass() ends them all; each is active, for open and new connections, when its function returns.
// Bytes are never reordered.
//
// A connection is accepted before the server is contacted: when the server is down, clients are
// accepted and then closed.
//
// Thread-safety: any thread. The proxy runs in its own thread.
class FaultProxy {
 public:
  explicit FaultProxy(std::uint16_t server_port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string url() const;  // redis://…, without a password

  void pass();
  // Delays everything that arrives from now on.
  void delay(Direction direction, std::chrono::microseconds time);
  // Forwards pieces of at most this many bytes, with a gap after each.
  void slice(std::size_t bytes, std::chrono::microseconds gap = std::chrono::microseconds{200});
  // Once: closes both sides of the connection that forwards the last of this many reply bytes; with
  // 0, the one that would forward the next byte. The rest is dropped.
  void cut_after(std::uint64_t reply_bytes);
  // Accepts connections and forwards nothing.
  void stall();
  // Stops listening on the port; open connections stay.
  void close_port();
  // Flips the bits of every n-th reply byte, counted from now. REQUIRES: nth > 0.
  void corrupt(std::uint64_t nth);

  // Ends the open connections, with a RST or with an orderly close.
  void reset();
  void close();

  struct Counts {
    std::uint64_t accepted = 0;  // connections, since the start
    std::size_t open = 0;        // connections, now
    std::uint64_t request_bytes = 0;
    std::uint64_t reply_bytes = 0;  // forwarded
  };
  [[nodiscard]] Counts counts() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace penstock::servers
