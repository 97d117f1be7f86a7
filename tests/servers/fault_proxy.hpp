#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace penstock::servers {

enum class Direction : std::uint8_t { Requests, Replies };

// Stands between clients and one server at 127.0.0.1, and does to their connections what networks
// do. Faults add up until pass() ends them all; each is in force, for open connections and for new
// ones, when the function that asks for it returns. Bytes are never reordered.
//
// A connection is accepted before the server is asked for one: when the server is down, clients see
// theirs closed at once rather than refused.
//
// Thread-safety: any thread. The proxy itself is a thread of its own.
class FaultProxy {
 public:
  explicit FaultProxy(std::uint16_t server_port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string url() const;  // redis://…, without a password

  void pass();
  // What arrives from now on waits that long.
  void delay(Direction direction, std::chrono::microseconds time);
  // Forwards pieces of so many bytes at the most, with a gap after each.
  void slice(std::size_t bytes, std::chrono::microseconds gap = std::chrono::microseconds{200});
  // Once: the connection that forwards the last of so many bytes of replies is closed on both sides
  // then; with 0, the one that would forward the next. What remains goes nowhere.
  void cut_after(std::uint64_t reply_bytes);
  // Accepts connections and forwards nothing.
  void stall();
  // Nobody listens on the port; open connections stay.
  void refuse();
  // Every n-th byte of replies, counted from now, has its bits flipped. REQUIRES: nth > 0.
  void corrupt(std::uint64_t nth);

  // Ends the connections there are now, with a RST or as a server does that shuts down.
  void reset();
  void close();

  struct Counts {
    std::uint64_t accepted = 0;  // connections, since the start
    std::size_t open = 0;        // connections, now
    std::uint64_t request_bytes = 0;
    std::uint64_t reply_bytes = 0;  // forwarded, as those above
  };
  [[nodiscard]] Counts counts() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace penstock::servers
