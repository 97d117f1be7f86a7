#pragma once

#include "servers/file_descriptor.hpp"

#include <cstdint>
#include <filesystem>

namespace penstock::servers {

// A TCP port of 127.0.0.1 that nobody else gets as long as this lives, whether somebody listens on
// it at the moment or not: a server killed finds it free again, and no client is given it as its
// own end of a connection.
//
// A socket is bound to the port and never listens. Linux lets a second socket bind, and listen,
// when both have SO_REUSEADDR, as the sockets of every server have; whoever asks for just any port
// is given another one.
class ReservedPort {
 public:
  ReservedPort();
  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }

 private:
  FileDescriptor socket_;
  std::uint16_t number_ = 0;
};

// Each throws std::system_error when it cannot. The sockets block.
[[nodiscard]] FileDescriptor listen_on(const ReservedPort& port);
[[nodiscard]] FileDescriptor connect_to(std::uint16_t loopback_port);
[[nodiscard]] FileDescriptor connect_to(const std::filesystem::path& unix_socket);

}  // namespace penstock::servers
