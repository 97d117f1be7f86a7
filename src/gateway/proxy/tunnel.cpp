#include "gateway/proxy/tunnel.hpp"

#include "base/deadline.hpp"
#include "net/spawn.hpp"

#include <utility>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::kIo;

class Tunnel final : public std::enable_shared_from_this<Tunnel> {
 public:
  Tunnel(Downstream::RawStream& client, std::shared_ptr<UpstreamConnection> server, Duration idle,
         const net::Executor& executor)
      : client_(client),
        server_(std::move(server)),
        idle_(idle),
        silence_(executor),
        upwards_done_(executor, base::Deadline::max()) {}

  // From the client to the server.
  static Awaitable<void> run_upwards(std::shared_ptr<Tunnel> self) {
    bool open = true;
    while (open) {
      const std::string_view bytes = self->client_.received();
      if (bytes.empty()) {
        if (!co_await self->client_.more()) break;
        self->stir();
        continue;
      }
      BufferSequence out;
      out.add(bytes);
      open = self->server_->write_now(out);
      if (open && !out.is_empty()) {
        open = co_await self->server_->write(out);
        self->server_->enter(net::Phase::Processing);  // tunnels have their own timeout
      }
      self->client_.consume(bytes.size());
      self->stir();
    }
    if (open) {
      self->server_->end_sending();
    } else {
      self->close();
    }
    self->upwards_ = false;
    self->upwards_done_.cancel();
  }

  static Awaitable<std::uint64_t> run(std::shared_ptr<Tunnel> self, std::size_t head_bytes) {
    ReadBuffer<net::Socket>& read_buffer = self->server_->read_buffer();
    bool open = co_await self->client_.send({read_buffer.bytes().data(), head_bytes});
    read_buffer.consume(head_bytes);
    std::uint64_t total = 0;
    net::spawn(self->silence_.get_executor(), run_upwards(self));
    self->watch();
    while (open) {
      const std::span<char> bytes = read_buffer.bytes();
      if (bytes.empty()) {
        if (!co_await self->server_->more()) break;
        self->stir();
        continue;
      }
      open = co_await self->client_.send({bytes.data(), bytes.size()});
      read_buffer.consume(bytes.size());
      total += bytes.size();
      self->stir();
    }
    if (open && read_buffer.has_ended()) {
      self->client_.end_sending();
    } else {
      self->close();
    }
    while (self->upwards_) co_await self->upwards_done_.async_wait(kIo);
    self->ended_ = true;
    self->silence_.cancel();
    co_return total;
  }

 private:
  void stir() { last_ = base::monotonic_now(); }

  void close() {
    server_->close();
    client_.close();
  }

  // Checks again at the earliest time the idle timeout can expire.
  void watch() {
    silence_.expires_at(last_ + idle_);
    silence_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
      if (cancelled || self->ended_) return;
      if (base::monotonic_now() >= self->last_ + self->idle_) return self->close();
      self->watch();
    });
  }

  Downstream::RawStream& client_;
  std::shared_ptr<UpstreamConnection> server_;
  Duration idle_;
  net::Timer silence_;
  net::Timer upwards_done_;  // never expires: cancelled when the client side ends
  base::Deadline last_ = base::monotonic_now();
  bool upwards_ = true;
  bool ended_ = false;
};

}  // namespace

Awaitable<std::uint64_t> switch_protocols(Downstream::RawStream& client,
                                          std::shared_ptr<UpstreamConnection> server,
                                          std::size_t head_bytes, Duration idle) {
  const net::Executor executor = server->executor();
  const auto tunnel = std::make_shared<Tunnel>(client, std::move(server), idle, executor);
  co_return co_await Tunnel::run(tunnel, head_bytes);
}

}  // namespace penstock::gateway
