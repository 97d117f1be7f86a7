#include "net/listen.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/socket_base.hpp>
#include <sys/socket.h>

#include <string>
#include <utility>

namespace penstock::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Asio has no option for SO_REUSEPORT.
class ReusePort {
 public:
  template <class Protocol>
  [[nodiscard]] int level(const Protocol& /*protocol*/) const noexcept {
    return SOL_SOCKET;
  }
  template <class Protocol>
  [[nodiscard]] int name(const Protocol& /*protocol*/) const noexcept {
    return SO_REUSEPORT;
  }
  template <class Protocol>
  [[nodiscard]] const void* data(const Protocol& /*protocol*/) const noexcept {
    return &on_;
  }
  template <class Protocol>
  [[nodiscard]] std::size_t size(const Protocol& /*protocol*/) const noexcept {
    return sizeof on_;
  }

 private:
  int on_ = 1;
};

Address address_of(const Tcp::endpoint& endpoint) {
  return {.host = endpoint.address().to_string(), .port = endpoint.port()};
}

Error listen_error(const Address& address, const error_code& why) {
  const bool in_use = why == asio::error::address_in_use;
  return {in_use ? ErrorCode::Unavailable : ErrorCode::Misconfigured,
          "cannot listen on " + to_string(address) + ": " + why.message()};
}

Result<std::vector<Tcp::endpoint>> resolve(const Executor& executor, const Address& address) {
  error_code not_numeric;
  const asio::ip::address numeric = asio::ip::make_address(address.host, not_numeric);
  if (!not_numeric) return std::vector{Tcp::endpoint(numeric, address.port)};
  asio::ip::basic_resolver<Tcp, Executor> resolver(executor);
  error_code failed;
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      asio::ip::resolver_base::passive, failed);
  if (failed) return listen_error(address, failed);
  std::vector<Tcp::endpoint> endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  return endpoints;
}

// Fails if the address is in use, even by a socket that shares it.
error_code check_port_unused(const Executor& executor, const Tcp::endpoint& endpoint) {
  Acceptor probe(executor);
  error_code failed;
  probe.open(endpoint.protocol(), failed);
  if (!failed) probe.set_option(asio::socket_base::reuse_address(true), failed);
  if (!failed && endpoint.address().is_v6()) probe.set_option(asio::ip::v6_only(true), failed);
  if (!failed) probe.bind(endpoint, failed);
  return failed;
}

error_code open_shared(Acceptor& acceptor, const Tcp::endpoint& endpoint) {
  error_code failed;
  acceptor.open(endpoint.protocol(), failed);
  if (!failed) acceptor.set_option(asio::socket_base::reuse_address(true), failed);
  if (!failed) acceptor.set_option(ReusePort(), failed);
  if (!failed && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), failed);
  if (!failed) acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (!failed) acceptor.non_blocking(true, failed);
  return failed;
}

}  // namespace

Result<std::vector<Acceptor>> listen_on(const Executor& executor, const Address& address,
                                        PortReuse port_reuse) {
  const Result<std::vector<Tcp::endpoint>> endpoints = resolve(executor, address);
  if (!endpoints) return endpoints.error();
  std::vector<Acceptor> acceptors;
  for (const Tcp::endpoint& endpoint : *endpoints) {
    if (port_reuse == PortReuse::Exclusive && endpoint.port() != 0) {
      const error_code taken = check_port_unused(executor, endpoint);
      if (taken) return listen_error(address_of(endpoint), taken);
    }
    acceptors.emplace_back(executor);
    const error_code failed = open_shared(acceptors.back(), endpoint);
    if (failed) return listen_error(address_of(endpoint), failed);
  }
  return acceptors;
}

Address address_of(const Acceptor& acceptor) {
  error_code failed;  // then the address is unspecified
  return address_of(acceptor.local_endpoint(failed));
}

}  // namespace penstock::net
