#pragma once

#include "penstock/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::bench {

// A request and its due time.
struct ScheduledRequest {
  std::chrono::steady_clock::time_point at{};
  std::uint32_t key = 0;
};

// The result of a request.
struct Completion {
  enum class Outcome : std::uint8_t { Allowed, Denied, Failed };

  ScheduledRequest due{};
  Outcome outcome = Outcome::Failed;
  std::string failure{};  // empty on success
};

// Writes requests and reads responses of one connection, without I/O.
class WireProtocol {
 public:
  WireProtocol() = default;
  WireProtocol(const WireProtocol&) = delete;
  WireProtocol& operator=(const WireProtocol&) = delete;
  virtual ~WireProtocol() = default;

  virtual void send(const ScheduledRequest& due) = 0;
  // Appends pending output.
  virtual void write_to(std::string& out) = 0;
  // Reads input in portions of any size and appends completions. Fails for malformed input, after
  // which the connection is unusable.
  [[nodiscard]] virtual Result<void> read(std::string_view bytes,
                                          std::vector<Completion>& completed) = 0;
  // Requests in flight.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  // Whether the server accepts no more requests on this connection.
  [[nodiscard]] virtual bool is_closing() const = 0;
};

}  // namespace penstock::bench
