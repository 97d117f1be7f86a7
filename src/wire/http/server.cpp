#include "wire/http/server.hpp"

#include "base/deadline.hpp"
#include "wire/http/connection.hpp"
#include "wire/http/spawn.hpp"
#include "wire/http/tls.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::wire::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Connections beyond the limit that are being told so.
constexpr std::size_t kRefusalsUnderWay = 128;
// Connections that the kernel has accepted before we stopped, taken in at the end.
constexpr int kLastAccepts = 1024;

constexpr Refusal kTooMany{503, "too many connections"};

Timeouts::Durations limits_of(const ServerOptions& options) {
  constexpr auto kNever = std::chrono::steady_clock::duration::max();
  const rules::HttpSettings& http = options.http;
  Timeouts::Durations limits;
  limits.fill(kNever);
  const auto set = [&limits](Phase phase, Duration limit) {
    limits.at(static_cast<std::size_t>(phase)) = std::min(limit, Duration{std::chrono::hours{24}});
  };
  set(Phase::Handshake, options.handshake_timeout);
  set(Phase::Idle, http.idle_timeout);
  set(Phase::Header, http.header_timeout);
  set(Phase::Body, http.body_timeout);
  set(Phase::Write, http.write_timeout);
  set(Phase::Linger, options.linger);
  return limits;
}

}  // namespace

struct Server::Listener {
  explicit Listener(Acceptor listening)
      : acceptor(std::move(listening)), retry(acceptor.get_executor()) {
    error_code failed;  // then it counts as open to everybody
    const Tcp::endpoint endpoint = acceptor.local_endpoint(failed);
    is_loopback = !failed && endpoint.address().is_loopback();
  }

  Acceptor acceptor;
  Timer retry;
  bool is_loopback = false;
};

struct Server::Front {
  Front(asio::io_context& event_loop, ServerOptions given, std::shared_ptr<ServerCore> shared)
      : loop(event_loop),
        options(std::move(given)),
        core(std::move(shared)),
        tick(event_loop.get_executor()) {}

  void admit(Socket socket, const Listener& listener);
  void close_listeners();
  void cut_all();
  void end();

  asio::io_context& loop;
  ServerOptions options;
  std::shared_ptr<ServerCore> core;
  std::shared_ptr<asio::ssl::context> tls{};
  std::vector<std::shared_ptr<Listener>> listeners{};
  Timer tick;
  std::optional<base::Deadline> cut_at{};
  std::function<void()> stopped{};
  bool watching = false;
  bool ended = false;
};

void Server::Front::admit(Socket socket, const Listener& listener) {
  Statistics& statistics = core->statistics();
  error_code failed;
  const Tcp::endpoint client = socket.remote_endpoint(failed);
  if (failed) return;  // gone already
  socket.set_option(Tcp::no_delay(true), failed);
  if (!failed) socket.non_blocking(true, failed);
  if (failed) return;
  const std::size_t most = options.http.max_connections;
  const bool too_many = statistics.open >= most;
  if (too_many) {
    ++statistics.refused;
    if (tls != nullptr || statistics.open >= most + kRefusalsUnderWay) return;
  } else {
    ++statistics.accepted;
  }
  Peer peer{.address = client.address().to_string(), .listens_on_loopback = listener.is_loopback};
  if (tls == nullptr) {
    std::make_shared<Connection<Socket>>(core, std::move(socket), std::move(peer))
        ->start(too_many ? &kTooMany : nullptr);
  } else {
    std::make_shared<Connection<TlsStream>>(core, TlsStream(std::move(socket), *tls),
                                            std::move(peer))
        ->start(nullptr);
  }
}

// What the kernel has accepted for us would otherwise be reset.
void Server::Front::close_listeners() {
  for (const std::shared_ptr<Listener>& listener : listeners) {
    error_code failed;
    for (int accepts = 0; accepts < kLastAccepts; ++accepts) {
      Socket socket = listener->acceptor.accept(failed);
      if (failed) break;
      admit(std::move(socket), *listener);
    }
    listener->acceptor.close(failed);
    listener->retry.cancel();
  }
  listeners.clear();
}

void Server::Front::cut_all() {
  core->timeouts.for_each([](Timed& timed) { static_cast<AnyConnection&>(timed).cut(); });
}

void Server::Front::end() {
  if (ended) return;
  ended = true;
  tick.cancel();
  if (stopped) asio::post(loop, std::exchange(stopped, nullptr));
}

Server::Server(asio::io_context& loop, Handler& handler, ServerOptions options, const Clock& clock)
    : core_(std::make_shared<ServerCore>(
          ServerCore{.surroundings = {.handler = handler,
                                      .clock = clock,
                                      .limits = {.header_bytes = options.http.max_header_bytes,
                                                 .body_bytes = options.http.max_body_bytes},
                                      .request_timeout = options.request_timeout},
                     .timeouts = Timeouts(limits_of(options))})),
      front_(std::make_shared<Front>(loop, std::move(options), core_)) {}

Server::~Server() {  // NOLINT(bugprone-exception-escape)
  core_->on_last_gone = nullptr;
  for (const std::shared_ptr<Listener>& listener : front_->listeners) {
    error_code ignored;  // there is nothing to be done about a socket that does not close
    listener->acceptor.close(ignored);
    listener->retry.cancel();
  }
  front_->cut_all();
  front_->ended = true;
  front_->tick.cancel();
}

Result<void> Server::reload_tls() {
  if (!front_->options.http.tls) return {};
  Result<std::shared_ptr<asio::ssl::context>> made = make_tls_context(*front_->options.http.tls);
  if (!made) return made.error();
  front_->tls = *std::move(made);
  return {};
}

Result<std::vector<rules::Address>> Server::listen(const std::vector<rules::Address>& addresses,
                                                   Sharing sharing) {
  if (front_->options.http.tls && front_->tls == nullptr) {
    const Result<void> loaded = reload_tls();
    if (!loaded) return loaded.error();
  }
  const Executor executor = front_->loop.get_executor();
  std::vector<Acceptor> acceptors;
  for (const rules::Address& address : addresses) {
    Result<std::vector<Acceptor>> listening = listen_on(executor, address, sharing);
    if (!listening) return listening.error();
    for (Acceptor& acceptor : *listening) acceptors.push_back(std::move(acceptor));
  }
  std::vector<rules::Address> bound;
  for (Acceptor& acceptor : acceptors) {
    bound.push_back(address_of(acceptor));
    front_->listeners.push_back(std::make_shared<Listener>(std::move(acceptor)));
    spawn(executor, accept_on(front_, front_->listeners.back()));
  }
  if (!std::exchange(front_->watching, true)) spawn(executor, watch(front_));
  return bound;
}

Awaitable<void> Server::accept_on(std::shared_ptr<Front> front,
                                  std::shared_ptr<Listener> listener) {
  while (listener->acceptor.is_open()) {
    auto [failed, socket] = co_await listener->acceptor.async_accept(kIo);
    if (front->ended) co_return;
    if (!failed) {
      front->admit(std::move(socket), *listener);
      continue;
    }
    if (!listener->acceptor.is_open()) co_return;
    // No descriptor or no memory left: the client waits in the queue of the kernel.
    ++front->core->statistics().accept_failures;
    listener->retry.expires_after(front->options.tick);
    co_await listener->retry.async_wait(kIo);
  }
}

Awaitable<void> Server::watch(std::shared_ptr<Front> front) {
  while (!front->ended) {
    front->tick.expires_after(front->options.tick);
    co_await front->tick.async_wait(kIo);
    if (front->ended) co_return;
    const base::Deadline now = base::monotonic_now();
    front->core->timeouts.expire(now);
    if (front->cut_at && now >= *front->cut_at) front->cut_all();
  }
}

void Server::stop(Duration grace, std::function<void()> stopped) {
  front_->stopped = std::move(stopped);
  front_->cut_at = base::deadline_after(grace);
  core_->stopping = true;
  front_->close_listeners();
  core_->timeouts.for_each([](Timed& timed) { static_cast<AnyConnection&>(timed).finish(); });
  if (core_->statistics().open == 0) {
    front_->end();
  } else {
    core_->on_last_gone = [front = std::weak_ptr<Front>(front_)] {
      if (const std::shared_ptr<Front> alive = front.lock()) alive->end();
    };
  }
}

}  // namespace penstock::wire::http
