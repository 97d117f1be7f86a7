#pragma once

#include "wire/http/server/server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace penstock::http_server {

// Echoes the request: "GET /path?query peer{body}". Paths below /later wait for answer_all().
class Echo final : public http::Handler {
 public:
  void handle(const http::Request& request, Respond respond) override;
  // Call on the event loop.
  void answer_all();
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load(); }

  std::string large;  // the response to /large

 private:
  struct Pending {
    const http::Request* request;
    Respond respond;
  };
  std::vector<Pending> pending_;
  std::atomic<std::size_t> waiting_ = 0;
};

// A server with its event loop, in its own thread.
class RunningServer {
 public:
  explicit RunningServer(http::ServerOptions options = {},
                         const net::Address& address = {.host = "127.0.0.1", .port = 0});
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return address_.port; }
  [[nodiscard]] const net::Address& address() const noexcept { return address_; }
  // Why it does not listen; empty when it does.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

  // Runs a function on the event loop and waits for it.
  template <class Act>
  auto call(Act act) {
    std::packaged_task<decltype(act())()> task(std::move(act));
    auto done = task.get_future();
    run(std::ref(task));
    return done.get();
  }
  [[nodiscard]] net::Statistics statistics();
  // The future is ready when the server has stopped.
  [[nodiscard]] std::future<void> stop(Duration grace);
  // Destroys the server while its event loop keeps running.
  void destroy();

  Echo echo;

  [[nodiscard]] http::Server& server() { return *server_; }

 private:
  void run(std::function<void()> act);

  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  std::unique_ptr<http::Server> server_;
  net::Address address_;
  std::string failure_;
  std::thread thread_;
};

// Timeouts short enough for tests; other options are the defaults.
[[nodiscard]] http::ServerOptions short_timeouts();

}  // namespace penstock::http_server
