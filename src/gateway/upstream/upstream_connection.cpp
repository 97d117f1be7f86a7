#include "gateway/upstream/upstream_connection.hpp"

#include "base/deadline.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::Tcp;

// Lookups running or queued on this thread; an event loop has one thread.
thread_local std::size_t in_flight = 0;

namespace asio = boost::asio;
using boost::system::error_code;
using net::kIo;
using net::Phase;

constexpr std::size_t kBuffer = std::size_t{16} << 10U;

}  // namespace

NameLookup::NameLookup(const net::Executor& executor)
    : ended_(executor, base::Deadline::max()), resolver_(executor) {}

Awaitable<std::vector<Tcp::endpoint>> NameLookup::find(net::Address address) {
  const auto self = shared_from_this();
  if (in_flight >= kMaxInFlight) co_return std::vector<Tcp::endpoint>{};
  ++in_flight;
  resolver_.async_resolve(address.host, std::to_string(address.port),
                          [self](const boost::system::error_code& failed, const auto& entries) {
                            --in_flight;
                            if (!failed) {
                              for (const auto& entry : entries) {
                                self->found_.push_back(entry.endpoint());
                              }
                            }
                            self->cancel();
                          });
  if (is_waiting_) {
    co_await ended_.async_wait(net::kIo);
  }
  co_return std::move(found_);
}

void NameLookup::cancel() {
  is_waiting_ = false;
  resolver_.cancel();
  ended_.cancel();
}

UpstreamConnection::UpstreamConnection(const net::Executor& executor, net::Timeouts& timeouts,
                                       std::size_t max_head_bytes)
    : socket_(executor),
      timeouts_(timeouts),
      read_buffer_(socket_, kBuffer, std::max(kBuffer, max_head_bytes)),
      head_reader_(max_head_bytes) {}

Awaitable<bool> UpstreamConnection::connect(net::Address address) {
  const auto self = shared_from_this();  // the pool may be emptied meanwhile
  enter(Phase::Handshake);
  error_code failed;
  const asio::ip::address numeric = asio::ip::make_address(address.host, failed);
  std::vector<Tcp::endpoint> endpoints{{numeric, address.port}};
  if (failed) {
    lookup_ = std::make_shared<NameLookup>(socket_.get_executor());
    endpoints = co_await lookup_->find(address);
    lookup_.reset();
    if (endpoints.empty() || !is_open_) co_return false;
  }
  error_code refused;
  for (const Tcp::endpoint& endpoint : endpoints) {
    std::tie(refused) = co_await socket_.async_connect(endpoint, kIo);
    if (!refused || !is_open_) break;
    error_code ignored;  // the next address uses a new socket
    socket_.close(ignored);
  }
  if (refused || !is_open_) {
    close();
    co_return false;
  }
  socket_.set_option(Tcp::no_delay(true), failed);
  socket_.non_blocking(true, failed);
  enter(Phase::Processing);
  co_return true;
}

bool UpstreamConnection::write_now(BufferSequence& bytes) {
  error_code failed;
  const std::size_t size = socket_.write_some(bytes.parts(), failed);
  written_ += size;
  bytes.remove(size);
  return !failed || failed == asio::error::would_block || failed == asio::error::try_again;
}

Awaitable<bool> UpstreamConnection::write(BufferSequence bytes) {
  const auto self = shared_from_this();
  while (!bytes.is_empty() && is_open_) {
    const auto parts = bytes.parts();
    const auto [failed, size] = co_await socket_.async_write_some(parts, kIo);
    written_ += size;
    bytes.remove(size);
    if (failed) co_return false;
    if (!bytes.is_empty()) enter(Phase::Write);  // progress restarts the timeout
  }
  co_return is_open_;
}

void UpstreamConnection::end_sending() {
  error_code ignored;  // the connection is already broken
  socket_.shutdown(Tcp::socket::shutdown_send, ignored);
}

void UpstreamConnection::close() {
  if (!std::exchange(is_open_, false)) return;
  unlink();
  if (lookup_ != nullptr) lookup_->cancel();
  error_code ignored;  // closing cannot be retried
  socket_.close(ignored);
}

void UpstreamConnection::expire(Phase /*phase*/) {
  has_expired_ = true;
  close();
}

void UpstreamConnection::enter(Phase phase) {
  if (is_open_) timeouts_.enter(*this, phase, base::monotonic_now());
}

}  // namespace penstock::gateway
