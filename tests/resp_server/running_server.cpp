#include "resp_server/running_server.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace penstock::resp_server {

RunningServer::RunningServer(wire::resp::ServerOptions options, const net::Address& address)
    : busy_(loop_.get_executor()),
      service_(store_.stores(), local_, events_, std::make_shared<rules::Ruleset>()),
      server_(std::make_unique<wire::resp::Server>(loop_, service_, std::move(options))) {
  const auto bound = server_->listen({address}, net::PortReuse::Exclusive);
  if (bound) {
    address_ = bound->front();
  } else {
    failure_ = bound.error().detail;
  }
  thread_ = std::thread([this] { loop_.run(); });
}

RunningServer::~RunningServer() {
  call([this] { server_.reset(); });
  answer_all();
  busy_.reset();
  thread_.join();
}

void RunningServer::run(std::function<void()> act) { boost::asio::post(loop_, std::move(act)); }

net::Statistics RunningServer::statistics() {
  return call([this] { return server_->statistics(); });
}

void RunningServer::set_late(bool is_late) {
  call([&] { store_.is_late = is_late; });
}

std::size_t RunningServer::waiting() {
  return call([this] { return store_.waiting(); });
}

void RunningServer::answer_all() {
  call([this] {
    while (store_.waiting() > 0) store_.answer(0);
  });
}

std::future<void> RunningServer::stop(Duration grace) {
  auto stopped = std::make_shared<std::promise<void>>();
  std::future<void> done = stopped->get_future();
  call([this, grace, stopped] { server_->stop(grace, [stopped] { stopped->set_value(); }); });
  return done;
}

wire::resp::ServerOptions short_timeouts() {
  using std::chrono::milliseconds;
  wire::resp::ServerOptions options;
  options.resp.idle_timeout = milliseconds{200};
  options.handshake_timeout = milliseconds{200};
  options.command_timeout = milliseconds{200};
  options.write_timeout = milliseconds{200};
  options.linger = milliseconds{200};
  options.tick = milliseconds{10};
  return options;
}

}  // namespace penstock::resp_server
