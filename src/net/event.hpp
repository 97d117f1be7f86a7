#pragma once

#include "net/asio_types.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <utility>

namespace penstock::net {

// Lets one coroutine wait until it is woken. Waking without a waiter does nothing.
//
// The event owns the waiting coroutine. If that coroutine owns the event in turn, the owner must
// wake it or drop it at the end. Thread-safety: none.
class Event {
 public:
  // REQUIRES: there is no waiter.
  [[nodiscard]] Awaitable<void> wait() {
    return boost::asio::async_initiate<const Token, void()>(
        [this](Handler handler) { waiter_.emplace(std::move(handler)); }, kToken);
  }

  [[nodiscard]] bool has_waiter() const noexcept { return waiter_.has_value(); }

  // The waiter resumes within this call.
  void wake() {
    if (std::optional<Handler> waiter = take()) (*std::move(waiter))();
  }
  // The waiter resumes from the event loop.
  void wake_later() {
    if (std::optional<Handler> waiter = take()) boost::asio::post(*std::move(waiter));
  }
  // Destroys the waiting coroutine.
  void drop_waiter() { static_cast<void>(take()); }

 private:
  using Token = boost::asio::use_awaitable_t<Executor>;
  using Handler = boost::asio::async_result<Token, void()>::handler_type;
  static constexpr Token kToken{};

  [[nodiscard]] std::optional<Handler> take() { return std::exchange(waiter_, std::nullopt); }

  std::optional<Handler> waiter_;
};

}  // namespace penstock::net
