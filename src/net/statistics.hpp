#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock::net {

// What a connection is doing, to a client or to an upstream. Each phase has its time limit.
enum class Phase : std::uint8_t {
  Handshake,   // of TLS; the connect to an upstream
  Idle,        // between two requests
  Header,      // from the first byte of a request
  FirstByte,   // of the response of an upstream
  Body,        // from the end of its header
  Processing,  // the handler has it
  Write,       // the client is slow to read the response
  Linger,      // all is sent; the client has time to read it
  Closing,
};
inline constexpr std::size_t kPhaseCount = 9;

// Counters of one server. Thread-safety: none; read where the server runs.
struct Statistics {
  std::size_t open = 0;  // now
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;              // too many connections
  std::uint64_t rejected_per_address = 0;  // too many connections of one address
  std::string last_rejected_address{};     // the last of them
  std::uint64_t accept_failures = 0;       // no file descriptor left, for instance
  std::string last_accept_error{};         // of the last failure
  std::uint64_t handshake_failures = 0;
  std::uint64_t http_requests = 0;                    // sent to a listener that does not speak HTTP
  std::string last_http_peer{};                       // of the last one
  std::uint64_t requests = 0;                         // that reached the handler
  std::array<std::uint64_t, 6> responses{};           // by the first digit of their status
  std::array<std::uint64_t, kPhaseCount> timeouts{};  // by Phase
  std::uint64_t refunds_ignored = 0;                  // from clients without permission
  std::uint64_t bytes_in = 0;                         // within TLS
  std::uint64_t bytes_out = 0;
};

}  // namespace penstock::net
