#include "wire/grpc/server.hpp"

#include "net/server_connection.hpp"

#include <utility>

namespace penstock::wire::grpc {
namespace {

using net::Phase;

void on_accept(const std::shared_ptr<ServerCore>& core,
               net::ConnectionAcceptor::AcceptedSocket accepted) {
  auto session = std::make_shared<Session>(core->server_context, core->refunds_for(accepted.peer));
  if (accepted.too_many) session->reject_client();
  net::start_connection(core, std::move(session), std::move(accepted));
}

}  // namespace

void ServerOptions::use(const rules::Settings& settings) {
  grpc = settings.grpc;
  headers = grpc.headers.value_or(settings.headers);
  preface_timeout = settings.http.header_timeout;
  receive_timeout = settings.http.body_timeout;
}

net::AcceptorOptions ServerOptions::acceptor_options() const {
  return {.max_connections = grpc.max_connections,
          .shared = shared,
          .tls = grpc.tls,
          .protocols = {"h2"},
          .tick = tick};
}

Result<void> ServerOptions::apply_to(ServerCore& core) const {
  ServerContext& context = core.server_context;
  context.http2_options.max_streams = static_cast<std::uint32_t>(grpc.max_streams);
  context.http2_options.min_ping_interval = grpc.min_ping_interval;
  context.max_message_bytes = grpc.max_message_bytes;
  context.max_connection_buffer_bytes = grpc.max_connection_buffer_bytes;
  context.max_buffer_bytes = grpc.max_buffer_bytes;
  context.request_timeout = request_timeout;
  context.receive_timeout = receive_timeout;
  core.limiter.use({.headers = headers, .dynamic_metadata = grpc.dynamic_metadata});
  core.refunds = grpc.refunds;
  core.authenticates_clients = grpc.tls && !grpc.tls->client_ca.empty();
  core.timeouts.set_limits(net::phase_limits({{Phase::Handshake, handshake_timeout},
                                              {Phase::Header, preface_timeout},
                                              {Phase::Body, request_timeout},
                                              {Phase::Idle, grpc.idle_timeout},
                                              {Phase::Processing, grpc.idle_timeout},
                                              {Phase::Write, write_timeout},
                                              {Phase::Linger, linger}}));
  return {};
}

Server::Server(boost::asio::io_context& loop, service::Service& service,
               const ServerOptions& options)
    : SocketListener(loop, std::make_shared<ServerCore>(service), options, on_accept) {}

}  // namespace penstock::wire::grpc
