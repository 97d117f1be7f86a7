#include "net/connection_acceptor.hpp"

#include "base/deadline.hpp"
#include "net/asio_types.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Connections beyond the limit that are being sent an error.
constexpr std::size_t kMaxRejectionsInFlight = 128;
// Connections in the backlog of the kernel when we stop, accepted at the end.
constexpr int kMaxFinalAccepts = 4096;

// Null without TLS.
Result<std::shared_ptr<asio::ssl::context>> tls_context_of(const AcceptorOptions& options) {
  if (!options.tls) return std::shared_ptr<asio::ssl::context>{};
  return make_tls_context(*options.tls, options.protocols, options.shared.tickets.get());
}

}  // namespace

struct ConnectionAcceptor::ListeningSocket {
  explicit ListeningSocket(Acceptor listening)
      : acceptor(std::move(listening)), retry(acceptor.get_executor()) {
    error_code failed;  // then it counts as reachable from other machines
    const Tcp::endpoint endpoint = acceptor.local_endpoint(failed);
    is_loopback = !failed && endpoint.address().is_loopback();
  }

  Acceptor acceptor;
  Timer retry;
  bool is_loopback = false;
};

struct ConnectionAcceptor::Shared {
  Shared(asio::io_context& event_loop, std::shared_ptr<ServerState> shared, AcceptorOptions given,
         OnAccept callback)
      : loop(event_loop),
        state(std::move(shared)),
        options(std::move(given)),
        on_accept(std::move(callback)),
        tick(event_loop.get_executor()) {}

  void on_accepted(Socket socket, const ListeningSocket& listener);
  void close_listeners();
  void abort_all();
  void end();

  asio::io_context& loop;
  std::shared_ptr<ServerState> state;
  AcceptorOptions options;
  OnAccept on_accept;
  std::shared_ptr<asio::ssl::context> tls{};
  std::vector<std::shared_ptr<ListeningSocket>> listeners{};
  Timer tick;
  std::optional<base::Deadline> abort_at{};
  std::function<void()> stopped{};
  bool checking_timeouts = false;
  bool ended = false;
};

void ConnectionAcceptor::Shared::on_accepted(Socket socket, const ListeningSocket& listener) {
  Statistics& statistics = state->statistics;
  error_code failed;
  const Tcp::endpoint client = socket.remote_endpoint(failed);
  if (failed) return;  // closed already
  socket.set_option(Tcp::no_delay(true), failed);
  if (!failed) socket.non_blocking(true, failed);
  if (failed) return;
  const std::string address = client.address().to_string();
  std::optional<AddressSlot> slot = AddressSlot{};
  if (options.shared.per_address != nullptr) slot = options.shared.per_address->admit(address);
  if (!slot) {  // closed without a response, which would keep it open
    ++statistics.rejected_per_address;
    statistics.last_rejected_address = address;
    return;
  }
  const std::size_t most = options.max_connections;
  const bool too_many = statistics.open >= most;
  if (too_many) {
    ++statistics.rejected;
    if (tls != nullptr || statistics.open >= most + kMaxRejectionsInFlight) return;
  } else {
    ++statistics.accepted;
  }
  on_accept({.socket = std::move(socket),
             .peer = {.address = address,
                      .listens_on_loopback = listener.is_loopback,
                      .is_loopback = listener.is_loopback || client.address().is_loopback()},
             .tls = tls,
             .slot = *std::move(slot),
             .too_many = too_many});
}

// Accepts the connections in the backlog of the kernel, which would otherwise be reset.
void ConnectionAcceptor::Shared::close_listeners() {
  for (const std::shared_ptr<ListeningSocket>& listener : listeners) {
    error_code failed;
    for (int accepts = 0; accepts < kMaxFinalAccepts; ++accepts) {
      Socket socket = listener->acceptor.accept(failed);
      if (failed) break;
      on_accepted(std::move(socket), *listener);
    }
    listener->acceptor.close(failed);
    listener->retry.cancel();
  }
  listeners.clear();
}

void ConnectionAcceptor::Shared::abort_all() {
  state->timeouts.for_each(
      [](TimeoutEntry& entry) { static_cast<ConnectionBase&>(entry).abort(); });
}

void ConnectionAcceptor::Shared::end() {
  if (ended) return;
  ended = true;
  tick.cancel();
  if (stopped) asio::post(loop, std::exchange(stopped, nullptr));
}

ConnectionAcceptor::ConnectionAcceptor(asio::io_context& loop, std::shared_ptr<ServerState> state,
                                       AcceptorOptions options, OnAccept on_accept)
    : shared_(std::make_shared<Shared>(loop, std::move(state), std::move(options),
                                       std::move(on_accept))) {}

ConnectionAcceptor::~ConnectionAcceptor() {  // NOLINT(bugprone-exception-escape)
  shared_->state->on_all_closed = nullptr;
  for (const std::shared_ptr<ListeningSocket>& listener : shared_->listeners) {
    error_code ignored;  // there is nothing to be done about a socket that does not close
    listener->acceptor.close(ignored);
    listener->retry.cancel();
  }
  shared_->abort_all();
  shared_->ended = true;
  shared_->tick.cancel();
}

Result<void> ConnectionAcceptor::reload(AcceptorOptions options,
                                        const std::function<Result<void>()>& apply) {
  Result<std::shared_ptr<asio::ssl::context>> tls = tls_context_of(options);
  if (!tls) return tls.error();
  Result<void> applied = apply();
  if (!applied) return applied;
  shared_->tls = *std::move(tls);
  shared_->options = std::move(options);
  shared_->state->timeouts.for_each(
      [](TimeoutEntry& entry) { static_cast<ConnectionBase&>(entry).reload(); });
  return {};
}

Result<std::vector<Address>> ConnectionAcceptor::listen(const std::vector<Address>& addresses,
                                                        PortReuse port_reuse) {
  if (shared_->tls == nullptr) {
    Result<std::shared_ptr<asio::ssl::context>> tls = tls_context_of(shared_->options);
    if (!tls) return tls.error();
    shared_->tls = *std::move(tls);
  }
  const Executor executor = shared_->loop.get_executor();
  std::vector<Acceptor> acceptors;
  for (const Address& address : addresses) {
    Result<std::vector<Acceptor>> listening = listen_on(executor, address, port_reuse);
    if (!listening) return listening.error();
    for (Acceptor& acceptor : *listening) acceptors.push_back(std::move(acceptor));
  }
  std::vector<Address> bound;
  for (Acceptor& acceptor : acceptors) {
    bound.push_back(address_of(acceptor));
    shared_->listeners.push_back(std::make_shared<ListeningSocket>(std::move(acceptor)));
    spawn(executor, accept_on(shared_, shared_->listeners.back()));
  }
  if (!std::exchange(shared_->checking_timeouts, true)) spawn(executor, check_timeouts(shared_));
  return bound;
}

Awaitable<void> ConnectionAcceptor::accept_on(std::shared_ptr<Shared> shared,
                                              std::shared_ptr<ListeningSocket> listener) {
  while (listener->acceptor.is_open()) {
    auto [failed, socket] = co_await listener->acceptor.async_accept(kIo);
    if (shared->ended) co_return;
    if (!failed) {
      shared->on_accepted(std::move(socket), *listener);
      continue;
    }
    if (!listener->acceptor.is_open()) co_return;
    // No descriptor or no memory left: the client waits in the queue of the kernel.
    ++shared->state->statistics.accept_failures;
    shared->state->statistics.last_accept_error = failed.message();
    listener->retry.expires_after(shared->options.tick);
    co_await listener->retry.async_wait(kIo);
  }
}

Awaitable<void> ConnectionAcceptor::check_timeouts(std::shared_ptr<Shared> shared) {
  while (!shared->ended) {
    shared->tick.expires_after(shared->options.tick);
    co_await shared->tick.async_wait(kIo);
    if (shared->ended) co_return;
    const base::Deadline now = base::monotonic_now();
    shared->state->timeouts.expire(now);
    if (shared->abort_at && now >= *shared->abort_at) shared->abort_all();
  }
}

void ConnectionAcceptor::drain() {
  shared_->state->draining = true;
  shared_->state->timeouts.for_each(
      [](TimeoutEntry& entry) { static_cast<ConnectionBase&>(entry).drain(); });
}

void ConnectionAcceptor::stop(Duration grace, std::function<void()> stopped) {
  shared_->stopped = std::move(stopped);
  shared_->abort_at = base::deadline_after(grace);
  shared_->state->stopping = true;
  shared_->close_listeners();
  shared_->state->timeouts.for_each(
      [](TimeoutEntry& entry) { static_cast<ConnectionBase&>(entry).close_when_idle(); });
  if (shared_->state->statistics.open == 0) {
    shared_->end();
  } else {
    shared_->state->on_all_closed = [shared = std::weak_ptr<Shared>(shared_)] {
      if (const std::shared_ptr<Shared> alive = shared.lock()) alive->end();
    };
  }
}

}  // namespace penstock::net
