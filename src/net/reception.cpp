#include "net/reception.hpp"

#include "base/deadline.hpp"
#include "net/spawn.hpp"
#include "net/tls.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Connections beyond the limit that are being told so.
constexpr std::size_t kRefusalsUnderWay = 128;
// Connections that the kernel has accepted before we stopped, taken in at the end.
constexpr int kLastAccepts = 4096;

}  // namespace

struct Reception::Listener {
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

struct Reception::Front {
  Front(asio::io_context& event_loop, std::shared_ptr<Room> shared, ReceptionOptions given,
        Admit admitting)
      : loop(event_loop),
        room(std::move(shared)),
        options(std::move(given)),
        admit(std::move(admitting)),
        tick(event_loop.get_executor()) {}

  void receive(Socket socket, const Listener& listener);
  void close_listeners();
  void cut_all();
  void end();

  asio::io_context& loop;
  std::shared_ptr<Room> room;
  ReceptionOptions options;
  Admit admit;
  std::shared_ptr<asio::ssl::context> tls{};
  std::vector<std::shared_ptr<Listener>> listeners{};
  Timer tick;
  std::optional<base::Deadline> cut_at{};
  std::function<void()> stopped{};
  bool watching = false;
  bool ended = false;
};

void Reception::Front::receive(Socket socket, const Listener& listener) {
  Statistics& statistics = room->statistics;
  error_code failed;
  const Tcp::endpoint client = socket.remote_endpoint(failed);
  if (failed) return;  // gone already
  socket.set_option(Tcp::no_delay(true), failed);
  if (!failed) socket.non_blocking(true, failed);
  if (failed) return;
  const std::string address = client.address().to_string();
  std::optional<AddressSlot> slot = AddressSlot{};
  if (options.per_address != nullptr) slot = options.per_address->admit(address);
  if (!slot) {  // closed without an answer: one would keep the connection open
    ++statistics.refused_per_address;
    statistics.refused_address = address;
    return;
  }
  const std::size_t most = options.max_connections;
  const bool too_many = statistics.open >= most;
  if (too_many) {
    ++statistics.refused;
    if (tls != nullptr || statistics.open >= most + kRefusalsUnderWay) return;
  } else {
    ++statistics.accepted;
  }
  admit({.socket = std::move(socket),
         .peer = {.address = address,
                  .listens_on_loopback = listener.is_loopback,
                  .is_loopback = listener.is_loopback || client.address().is_loopback()},
         .tls = tls,
         .slot = *std::move(slot),
         .too_many = too_many});
}

// What the kernel has accepted for us would otherwise be reset.
void Reception::Front::close_listeners() {
  for (const std::shared_ptr<Listener>& listener : listeners) {
    error_code failed;
    for (int accepts = 0; accepts < kLastAccepts; ++accepts) {
      Socket socket = listener->acceptor.accept(failed);
      if (failed) break;
      receive(std::move(socket), *listener);
    }
    listener->acceptor.close(failed);
    listener->retry.cancel();
  }
  listeners.clear();
}

void Reception::Front::cut_all() {
  room->timeouts.for_each([](Timed& timed) { static_cast<AnyConnection&>(timed).cut(); });
}

void Reception::Front::end() {
  if (ended) return;
  ended = true;
  tick.cancel();
  if (stopped) asio::post(loop, std::exchange(stopped, nullptr));
}

Reception::Reception(asio::io_context& loop, std::shared_ptr<Room> room, ReceptionOptions options,
                     Admit admit)
    : front_(std::make_shared<Front>(loop, std::move(room), std::move(options), std::move(admit))) {
}

Reception::~Reception() {  // NOLINT(bugprone-exception-escape)
  front_->room->on_last_gone = nullptr;
  for (const std::shared_ptr<Listener>& listener : front_->listeners) {
    error_code ignored;  // there is nothing to be done about a socket that does not close
    listener->acceptor.close(ignored);
    listener->retry.cancel();
  }
  front_->cut_all();
  front_->ended = true;
  front_->tick.cancel();
}

Result<void> Reception::reload_tls(const std::optional<rules::TlsFiles>& files) {
  if (!front_->options.tls || !files) return {};
  Result<std::shared_ptr<asio::ssl::context>> made =
      make_tls_context(*files, front_->options.protocols);
  if (!made) return made.error();
  front_->tls = *std::move(made);
  return {};
}

Result<std::vector<rules::Address>> Reception::listen(const std::vector<rules::Address>& addresses,
                                                      Sharing sharing) {
  if (front_->options.tls && front_->tls == nullptr) {
    const Result<void> loaded = reload_tls(front_->options.tls);
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

Awaitable<void> Reception::accept_on(std::shared_ptr<Front> front,
                                     std::shared_ptr<Listener> listener) {
  while (listener->acceptor.is_open()) {
    auto [failed, socket] = co_await listener->acceptor.async_accept(kIo);
    if (front->ended) co_return;
    if (!failed) {
      front->receive(std::move(socket), *listener);
      continue;
    }
    if (!listener->acceptor.is_open()) co_return;
    // No descriptor or no memory left: the client waits in the queue of the kernel.
    ++front->room->statistics.accept_failures;
    front->room->statistics.accept_trouble = failed.message();
    listener->retry.expires_after(front->options.tick);
    co_await listener->retry.async_wait(kIo);
  }
}

Awaitable<void> Reception::watch(std::shared_ptr<Front> front) {
  while (!front->ended) {
    front->tick.expires_after(front->options.tick);
    co_await front->tick.async_wait(kIo);
    if (front->ended) co_return;
    const base::Deadline now = base::monotonic_now();
    front->room->timeouts.expire(now);
    if (front->cut_at && now >= *front->cut_at) front->cut_all();
  }
}

void Reception::drain() {
  front_->room->draining = true;
  front_->room->timeouts.for_each([](Timed& timed) { static_cast<AnyConnection&>(timed).drain(); });
}

void Reception::stop(Duration grace, std::function<void()> stopped) {
  front_->stopped = std::move(stopped);
  front_->cut_at = base::deadline_after(grace);
  front_->room->stopping = true;
  front_->close_listeners();
  front_->room->timeouts.for_each(
      [](Timed& timed) { static_cast<AnyConnection&>(timed).finish(); });
  if (front_->room->statistics.open == 0) {
    front_->end();
  } else {
    front_->room->on_last_gone = [front = std::weak_ptr<Front>(front_)] {
      if (const std::shared_ptr<Front> alive = front.lock()) alive->end();
    };
  }
}

}  // namespace penstock::net
