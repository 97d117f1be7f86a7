#pragma once

#include "resp_harness/late_store.hpp"
#include "service/service.hpp"
#include "wire/resp/server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace penstock::resp_server {

// Ignores all events.
class NoEvents final : public service::Events {
 public:
  void on_store_call(std::chrono::steady_clock::duration /*waited*/,
                     const Error* /*failure*/) override {}
  void on_answer(std::string_view /*domain*/, const service::Answer& /*answer*/) override {}
  void on_take(std::string_view /*subject*/, const Decision& /*decision*/) override {}
};

// A server with its event loop, in its own thread, on a store that can defer answers.
class RunningServer {
 public:
  explicit RunningServer(wire::resp::ServerOptions options = {},
                         const net::Address& address = {.host = "127.0.0.1", .port = 0});
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return address_.port; }
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
  void set_late(bool is_late);
  [[nodiscard]] std::size_t waiting();
  // In call order.
  void answer_all();
  // The future is ready when the server has stopped.
  [[nodiscard]] std::future<void> stop(Duration grace);

 private:
  void run(std::function<void()> act);

  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  wire::resp::LateStore store_;
  service::Membership members_{1};
  service::LocalFallback local_{store_.memory, members_};
  NoEvents events_;
  service::Service service_;
  std::unique_ptr<wire::resp::Server> server_;
  net::Address address_;
  std::string failure_;
  std::thread thread_;
};

// Timeouts short enough for tests; other options are the defaults.
[[nodiscard]] wire::resp::ServerOptions short_timeouts();

}  // namespace penstock::resp_server
