#include "http_server/running_server.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace penstock::http_server {
namespace {

std::string text_of(const http::Request& request) {
  std::string text(request.method);
  text += " " + std::string(request.path);
  if (!request.query.empty()) text += "?" + std::string(request.query);
  return text + " " + std::string(request.peer) + "{" + std::string(request.body) + "}";
}

}  // namespace

void Echo::handle(const http::Request& request, Respond respond) {
  if (request.path.starts_with("/later")) {
    pending_.push_back({&request, std::move(respond)});
    waiting_.store(pending_.size());
    return;
  }
  respond({.body = request.path == "/large" ? large : text_of(request)});
}

void Echo::answer_all() {
  for (const Pending& pending : std::exchange(pending_, {})) {
    pending.respond({.body = text_of(*pending.request)});
  }
  waiting_.store(pending_.size());
}

RunningServer::RunningServer(http::ServerOptions options, const net::Address& address)
    : busy_(loop_.get_executor()),
      server_(std::make_unique<http::Server>(loop_, echo, std::move(options))) {
  const auto bound = server_->listen({address}, net::PortReuse::Exclusive);
  if (bound) {
    address_ = bound->front();
  } else {
    failure_ = bound.error().detail;
  }
  thread_ = std::thread([this] { loop_.run(); });
}

RunningServer::~RunningServer() {
  destroy();
  call([this] { echo.answer_all(); });
  busy_.reset();
  thread_.join();
}

void RunningServer::run(std::function<void()> act) { boost::asio::post(loop_, std::move(act)); }

net::Statistics RunningServer::statistics() {
  return call([this] { return server_->statistics(); });
}

std::future<void> RunningServer::stop(Duration grace) {
  auto stopped = std::make_shared<std::promise<void>>();
  std::future<void> done = stopped->get_future();
  call([this, grace, stopped] { server_->stop(grace, [stopped] { stopped->set_value(); }); });
  return done;
}

void RunningServer::destroy() {
  call([this] { server_.reset(); });
}

http::ServerOptions short_timeouts() {
  using std::chrono::milliseconds;
  http::ServerOptions options;
  options.http.header_timeout = milliseconds{200};
  options.http.body_timeout = milliseconds{200};
  options.http.write_timeout = milliseconds{200};
  options.http.idle_timeout = milliseconds{200};
  options.handshake_timeout = milliseconds{200};
  options.linger = milliseconds{200};
  options.tick = milliseconds{10};
  return options;
}

}  // namespace penstock::http_server
