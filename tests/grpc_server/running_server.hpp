#pragma once

#include "rules/model/configuration.hpp"
#include "service_harness/test_service.hpp"
#include "wire/grpc/server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace penstock::grpc_server {

// The gRPC listener with its event loop, in its own thread.
class RunningServer {
 public:
  // Runs a function on the event loop and waits for it.
  template <class Act>
  auto call(Act act) {
    std::packaged_task<decltype(act())()> task(std::move(act));
    auto done = task.get_future();
    boost::asio::post(loop_, std::ref(task));
    return done.get();
  }

  explicit RunningServer(const wire::grpc::ServerOptions& options = {})
      : busy_(loop_.get_executor()),
        server_(std::make_unique<wire::grpc::Server>(loop_, service_, options)) {
    const auto bound =
        server_->listen({{.host = "127.0.0.1", .port = 0}}, net::PortReuse::Exclusive);
    if (bound) port_ = bound->front().port;
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RunningServer() {
    call([this] {
      server_.reset();
      parts.store.answer_late();
    });
    busy_.reset();
    thread_.join();
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  [[nodiscard]] net::Statistics statistics() {
    return call([this] { return server_->statistics(); });
  }
  // The future is ready when the server has stopped.
  [[nodiscard]] std::future<void> stop(Duration grace) {
    auto stopped = std::make_shared<std::promise<void>>();
    call([&] { server_->stop(grace, [stopped] { stopped->set_value(); }); });
    return stopped->get_future();
  }

  service::TestService parts{};

 private:
  static std::shared_ptr<const rules::Ruleset> rules() {
    return rules::load_text(
               "domains: {api: {rules: [{name: per-user, key: [user], limit: 1000000/day}]}}",
               "test.yaml")
        .configuration.value()
        .rules;
  }

  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  service::Service service_{parts.store.stores(), parts.local, parts.events, rules()};
  std::unique_ptr<wire::grpc::Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// Timeouts short enough for tests; other options are the defaults.
[[nodiscard]] inline wire::grpc::ServerOptions short_timeouts() {
  using std::chrono::milliseconds;
  wire::grpc::ServerOptions options;
  options.grpc.idle_timeout = milliseconds{200};
  options.preface_timeout = milliseconds{200};
  options.request_timeout = milliseconds{200};
  options.write_timeout = milliseconds{200};
  options.tick = milliseconds{10};
  return options;
}

}  // namespace penstock::grpc_server
