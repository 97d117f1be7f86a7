#include "wire/http/server/server.hpp"

#include "net/server_connection.hpp"

#include <utility>

namespace penstock::http {
namespace {

using net::Phase;

constexpr HttpError kTooManyConnections{503, "too many connections"};

std::shared_ptr<ServerContext> make_context(Handler& handler, const Clock& clock,
                                            const ServerOptions& options) {
  const rules::HttpSettings& http = options.http;
  return std::make_shared<ServerContext>(
      handler, clock,
      ReaderLimits{.header_bytes = http.max_header_bytes, .body_bytes = http.max_body_bytes},
      options.request_timeout,
      net::phase_limits({{Phase::Handshake, options.handshake_timeout},
                         {Phase::Idle, http.idle_timeout},
                         {Phase::Header, http.header_timeout},
                         {Phase::Body, http.body_timeout},
                         {Phase::Write, http.write_timeout},
                         {Phase::Linger, options.linger}}));
}

void on_accept(const std::shared_ptr<ServerContext>& context,
               net::ConnectionAcceptor::AcceptedSocket accepted) {
  auto session = std::make_shared<Session>(*context, std::move(accepted.peer));
  if (accepted.too_many) session->reject(kTooManyConnections);
  net::start_connection(context, std::move(session), std::move(accepted));
}

}  // namespace

Server::Server(boost::asio::io_context& loop, Handler& handler, const ServerOptions& options,
               const Clock& clock)
    : SocketListener(loop, make_context(handler, clock, options),
                     {.max_connections = options.http.max_connections,
                      .per_address = options.per_address,
                      .tls = options.http.tls,
                      .protocols = {"http/1.1"},
                      .tick = options.tick},
                     on_accept) {}

}  // namespace penstock::http
