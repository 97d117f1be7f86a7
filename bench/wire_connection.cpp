#include "bench/wire_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace penstock::bench {

namespace asio = boost::asio;
using boost::system::error_code;

Result<void> WireConnection::connect(const WireTarget& target) {
  error_code failed;
  asio::ip::tcp::resolver resolver(socket_.get_executor());
  const auto found = resolver.resolve(target.host, target.port, failed);
  if (!failed) server_ = asio::connect(socket_, found, failed);
  if (failed) {
    return Error{ErrorCode::Unavailable, target.host + ":" + target.port + ": " + failed.message()};
  }
  socket_.set_option(asio::ip::tcp::no_delay(true), failed);
  is_connected_ = true;
  return {};
}

void WireConnection::send(const ScheduledRequest& due) {
  protocol_->send(due);
  flush_soon();
}

void WireConnection::flush_soon() {
  if (will_flush_) return;
  will_flush_ = true;
  asio::post(socket_.get_executor(), [this] {
    will_flush_ = false;
    flush();
  });
}

void WireConnection::flush() {
  if (is_writing_ || !is_connected_) return;
  out_.clear();
  protocol_->write_to(out_);
  if (out_.empty()) return;
  is_writing_ = true;
  asio::async_write(socket_, asio::buffer(out_),
                    [this, generation = generation_](const error_code& failed, std::size_t) {
                      if (generation != generation_) return;
                      is_writing_ = false;
                      if (failed) return on_broken(failed.message());
                      flush();
                    });
}

void WireConnection::read() {
  socket_.async_read_some(asio::buffer(in_), [this, generation = generation_](
                                                 const error_code& failed, std::size_t bytes) {
    if (generation != generation_) return;
    if (failed) return on_broken(failed.message());
    on_bytes(bytes);
  });
}

void WireConnection::on_bytes(std::size_t bytes) {
  completed_.clear();
  const Result<void> done = protocol_->read({in_.data(), bytes}, completed_);
  for (Completion& completed : completed_) owner_.on_completed(completed);
  if (!done) return on_broken(done.error().detail);
  if (protocol_->is_closing()) return on_broken("the server ended the connection");
  if (!completed_.empty()) owner_.on_capacity(*this);
  flush_soon();  // the protocol may have output of its own
  read();
}

void WireConnection::on_broken(const std::string& why) {
  const std::size_t lost = protocol_->in_flight();
  ++generation_;
  is_connected_ = is_writing_ = false;
  error_code ignored;
  socket_.close(ignored);
  protocol_ = make_protocol_();
  if (lost > 0) owner_.on_lost(lost, why);
  if (is_wanted_) connect_again();
}

void WireConnection::connect_again() {
  socket_.async_connect(server_, [this](const error_code& failed) {
    if (failed) return owner_.on_lost(0, failed.message());
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    is_connected_ = true;
    read();
    owner_.on_capacity(*this);
  });
}

}  // namespace penstock::bench
