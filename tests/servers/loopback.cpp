#include "servers/loopback.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace penstock::servers {
namespace {

void check(int result, const std::string& what) {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
}

// Casts to the generic address type of the socket calls.
template <class Address>
sockaddr* generic(Address& address) {
  return static_cast<sockaddr*>(static_cast<void*>(&address));
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

FileDescriptor new_socket(int family) {
  FileDescriptor made(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  check(made.number(), "socket");
  return made;
}

void turn_on(const FileDescriptor& socket, int level, int option) {
  const int on = 1;
  check(::setsockopt(socket.number(), level, option, &on, sizeof on), "setsockopt");
}

}  // namespace

ReservedPort::ReservedPort() : socket_(new_socket(AF_INET)) {
  sockaddr_in address = loopback(0);
  check(::bind(socket_.number(), generic(address), sizeof address), "bind to any port");
  turn_on(socket_, SOL_SOCKET, SO_REUSEADDR);  // only now: the bind had to be exclusive
  socklen_t size = sizeof address;
  check(::getsockname(socket_.number(), generic(address), &size), "getsockname");
  number_ = ntohs(address.sin_port);
}

FileDescriptor listen_on(const ReservedPort& port) {
  FileDescriptor socket = new_socket(AF_INET);
  turn_on(socket, SOL_SOCKET, SO_REUSEADDR);
  sockaddr_in address = loopback(port.number());
  const std::string what = "listen on port " + std::to_string(port.number());
  check(::bind(socket.number(), generic(address), sizeof address), what);
  check(::listen(socket.number(), SOMAXCONN), what);
  return socket;
}

FileDescriptor connect_to(std::uint16_t loopback_port) {
  FileDescriptor socket = new_socket(AF_INET);
  sockaddr_in address = loopback(loopback_port);
  check(::connect(socket.number(), generic(address), sizeof address),
        "connect to port " + std::to_string(loopback_port));
  turn_on(socket, IPPROTO_TCP, TCP_NODELAY);
  return socket;
}

FileDescriptor connect_to(const std::filesystem::path& unix_socket) {
  FileDescriptor socket = new_socket(AF_UNIX);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = unix_socket.string();
  if (name.size() >= sizeof address.sun_path) {
    throw std::runtime_error("too long for the path of a socket: " + name);
  }
  name.copy(address.sun_path, name.size());
  check(::connect(socket.number(), generic(address), sizeof address), "connect to " + name);
  return socket;
}

}  // namespace penstock::servers
