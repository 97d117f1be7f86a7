#pragma once

#include "servers/file_descriptor.hpp"

#include <cstdint>
#include <filesystem>

namespace penstock::servers {

// A TCP port of 127.0.0.1 that is reserved while this lives, with or without a listener: a killed
// server can reuse it, and it is never chosen as an ephemeral port.
//
// A socket is bound to the port and never listens. Linux lets a second socket bind and listen when
// both have SO_REUSEADDR, as servers set it; binds to port 0 get another port.
class ReservedPort {
 public:
  ReservedPort();
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }

 private:
  FileDescriptor socket_;
  std::uint16_t number_ = 0;
};

// Each throws std::system_error on failure. The sockets are blocking.
[[nodiscard]] FileDescriptor listen_on(const ReservedPort& port);
[[nodiscard]] FileDescriptor connect_to(std::uint16_t loopback_port);
[[nodiscard]] FileDescriptor connect_to(const std::filesystem::path& unix_socket);

}  // namespace penstock::servers
