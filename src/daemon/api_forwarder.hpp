#pragma once

#include "base/deadline.hpp"
#include "http/message.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace penstock::daemon {

// Hands requests of the admin port to the HTTP API of a worker, and its answers back. Every request
// is answered once: by the worker, or with 503 at its deadline and at the end of the daemon.
//
// Thread-safety: none; the answers of workers are posted to the event loop.
class ApiForwarder {
 public:
  static constexpr std::size_t kMaxPending = 100;
  // Answers on another thread. The request lives until then.
  using CallApi = std::function<void(std::shared_ptr<const http::Request>, http::Handler::Respond)>;

  // REQUIRES: the event loop outlives it, and no worker answers after its end.
  ApiForwarder(boost::asio::io_context& loop, CallApi call_api)
      : loop_(loop), call_api_(std::move(call_api)) {}

  // Copies the request.
  void call(const http::Request& request, http::Handler::Respond respond);
  // Once a second.
  void expire(base::Deadline now);

 private:
  struct Pending {
    http::Handler::Respond respond;
    base::Deadline deadline;
  };
  void answer(std::uint64_t id, http::Response response);

  boost::asio::io_context& loop_;
  CallApi call_api_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Pending> pending_;
};

}  // namespace penstock::daemon
