#include "wire/grpc/server.hpp"

#include "net/server_connection.hpp"

#include <utility>

namespace penstock::wire::grpc {
namespace {

using net::Phase;

net::Timeouts::Durations limits_of(const ServerOptions& options) {
  return net::phase_limits({{Phase::Handshake, options.handshake_timeout},
                            {Phase::Header, options.preface_timeout},
                            {Phase::Body, options.request_timeout},
                            {Phase::Idle, options.grpc.idle_timeout},
                            {Phase::Processing, options.grpc.idle_timeout},
                            {Phase::Write, options.write_timeout},
                            {Phase::Linger, options.linger}});
}

RateLimiterOptions answers_of(const ServerOptions& options) {
  RateLimiterOptions answers{.dynamic_metadata = options.grpc.dynamic_metadata};
  if (options.grpc.headers) answers.headers = options.headers;
  return answers;
}

http2::SessionOptions session_of(const ServerOptions& options) {
  return {.max_streams = static_cast<std::uint32_t>(options.grpc.max_streams),
          .min_ping_interval = options.grpc.min_ping_interval};
}

void on_accept(const std::shared_ptr<ServerCore>& core,
               net::ConnectionAcceptor::AcceptedSocket accepted) {
  auto session = std::make_shared<Session>(core->server_context, core->refunds_for(accepted.peer));
  if (accepted.too_many) session->reject_client();
  net::start_connection(core, std::move(session), std::move(accepted));
}

}  // namespace

Server::Server(boost::asio::io_context& loop, service::Service& service,
               const ServerOptions& options)
    : SocketListener(loop,
                     std::make_shared<ServerCore>(limits_of(options), service, answers_of(options),
                                                  session_of(options), options.grpc,
                                                  options.request_timeout, options.receive_timeout),
                     {.max_connections = options.grpc.max_connections,
                      .per_address = options.per_address,
                      .tls = options.grpc.tls,
                      .protocols = {"h2"},
                      .tick = options.tick},
                     on_accept) {}

Result<void> Server::reload(const rules::Settings& settings) {
  const auto& tls = settings.grpc.tls;
  const Result<void> loaded = acceptor().reload_tls(tls);
  if (loaded) state().authenticates_clients = tls && !tls->client_ca.empty();
  return loaded;
}

}  // namespace penstock::wire::grpc
