#include "wire/http/server/server.hpp"

#include "net/server_connection.hpp"

#include <utility>

namespace penstock::http {
namespace {

using net::Phase;

constexpr HttpError kTooManyConnections{503, "too many connections"};

void on_accept(const std::shared_ptr<ServerContext>& context,
               net::ConnectionAcceptor::AcceptedSocket accepted) {
  auto session = std::make_shared<Session>(*context, std::move(accepted.peer));
  if (accepted.too_many) session->reject(kTooManyConnections);
  net::start_connection(context, std::move(session), std::move(accepted));
}

}  // namespace

void ServerOptions::use(const rules::Settings& settings) {
  http = settings.http;
  are_settings = true;
}

net::AcceptorOptions ServerOptions::acceptor_options() const {
  return {.max_connections = http.max_connections,
          .shared = shared,
          .tls = http.tls,
          .protocols = {"http/1.1"},
          .tick = tick};
}

Result<void> ServerOptions::apply_to(ServerContext& context) const {
  context.limits = {.header_bytes = http.max_header_bytes, .body_bytes = http.max_body_bytes};
  if (are_settings) {
    context.limits.header_setting = "server.max_header_bytes";
    context.limits.body_setting = "server.max_body_bytes";
  }
  context.request_timeout = request_timeout;
  context.timeouts.set_limits(net::phase_limits({{Phase::Handshake, handshake_timeout},
                                                 {Phase::Idle, http.idle_timeout},
                                                 {Phase::Header, http.header_timeout},
                                                 {Phase::Body, http.body_timeout},
                                                 {Phase::Write, http.write_timeout},
                                                 {Phase::Linger, linger}}));
  return {};
}

Server::Server(boost::asio::io_context& loop, Handler& handler, const ServerOptions& options,
               const Clock& clock)
    : SocketListener(loop, std::make_shared<ServerContext>(handler, clock), options, on_accept) {}

}  // namespace penstock::http
