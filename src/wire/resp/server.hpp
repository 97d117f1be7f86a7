#pragma once

#include "net/listener.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings/settings.hpp"
#include "service/service.hpp"
#include "wire/resp/session.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace penstock::wire::resp {

// See net::SocketListener.
struct ServerOptions {
  rules::RespSettings resp{};                    // `listen` is not used
  std::string version{};                         // of the program
  std::optional<rules::OnFailure> on_failure{};  // see ServerSettings
  Duration handshake_timeout = std::chrono::seconds{10};
  Duration command_timeout = std::chrono::seconds{30};  // from the first byte of one to its last
  Duration write_timeout = std::chrono::seconds{10};
  Duration request_timeout = std::chrono::seconds{1};  // the deadline of the store
  Duration linger = std::chrono::seconds{2};           // for a client to read the last reply
  net::ListenerShared shared{};
  Duration tick = std::chrono::milliseconds{100};  // how often timeouts are checked

  void use(const rules::Settings& settings);
  [[nodiscard]] net::AcceptorOptions acceptor_options() const;
  // Misconfigured when no password is left and other machines can connect.
  [[nodiscard]] Result<void> apply_to(ServerContext& context) const;
};

// Misconfigured when other machines can connect and there is no password.
[[nodiscard]] Result<void> require_password(const rules::RespSettings& settings);

// The Redis protocol (RESP) server of one event loop: RESP2, RESP3 and inline commands; pipelining,
// TLS, limits on everything a client can make us hold or wait for. Each worker has its
// own, on the same addresses.
//
// A connection holds 4 to 16 KB, and a whole command while it arrives.
// Thread-safety: none; everything happens on the event loop, which one thread runs. The service and
// the event loop outlive the server; the server may be destroyed while replies are pending.
class Server final : public net::SocketListener<ServerContext, ServerOptions> {
 public:
  Server(boost::asio::io_context& loop, service::Service& service, const ServerOptions& options);

  // Misconfigured when other machines could connect, and there is no password.
  [[nodiscard]] Result<std::vector<net::Address>> listen(const std::vector<net::Address>& addresses,
                                                         net::PortReuse port_reuse) override;
};

}  // namespace penstock::wire::resp
