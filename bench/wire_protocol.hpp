#pragma once

#include "penstock/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::bench {

// A request, and since when its answer is waited for.
struct ScheduledRequest {
  std::chrono::steady_clock::time_point at{};
  std::uint32_t key = 0;
};

// What became of a request.
struct Completion {
  enum class Outcome : std::uint8_t { Allowed, Denied, Failed };

  ScheduledRequest due{};
  Outcome outcome = Outcome::Failed;
  std::string failure{};  // why it failed
};

// How requests are written and answers read, on one connection, without the connection.
class WireProtocol {
 public:
  WireProtocol() = default;
  WireProtocol(const WireProtocol&) = delete;
  WireProtocol& operator=(const WireProtocol&) = delete;
  virtual ~WireProtocol() = default;

  virtual void send(const ScheduledRequest& due) = 0;
  // Appends what is to be sent by now.
  virtual void write_to(std::string& out) = 0;
  // Reads what has come, however it was cut, and adds what became of requests. An error when it is
  // not this protocol: nothing more can be read then.
  [[nodiscard]] virtual Result<void> read(std::string_view bytes,
                                          std::vector<Completion>& completed) = 0;
  // Requests whose answers have not come.
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  // Whether the server wants no more requests on this connection.
  [[nodiscard]] virtual bool is_closing() const = 0;
};

}  // namespace penstock::bench
