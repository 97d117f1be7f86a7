#pragma once

#include "net/asio_types.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>

namespace penstock::gateway {

// Suspends one coroutine until wake() is called. Thread-safety: none.
class Wakeup {
 public:
  // REQUIRES: no coroutine is waiting.
  [[nodiscard]] net::Awaitable<void> wait() {
    constexpr boost::asio::use_awaitable_t<net::Executor> kToken;
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<net::Executor>, void()>(
        [this](auto handler) {
          waiter_ = std::make_unique<Waiter<decltype(handler)>>(std::move(handler));
        },
        kToken);
  }

  [[nodiscard]] bool has_waiter() const noexcept { return waiter_ != nullptr; }

  // Resumes the waiting coroutine within this call; does nothing without one.
  void wake() {
    if (const auto waiting = std::exchange(waiter_, nullptr)) waiting->resume();
  }
  // Destroys the waiting coroutine.
  void drop_waiter() { const auto forgotten = std::exchange(waiter_, nullptr); }

 private:
  struct WaiterBase {
    WaiterBase() = default;
    WaiterBase(const WaiterBase&) = delete;
    WaiterBase& operator=(const WaiterBase&) = delete;
    virtual ~WaiterBase() = default;
    virtual void resume() = 0;
  };
  template <class Handler>
  struct Waiter final : WaiterBase {
    explicit Waiter(Handler given) : handler(std::move(given)) {}
    void resume() override { std::move(handler)(); }
    Handler handler;
  };

  std::unique_ptr<WaiterBase> waiter_;
};

}  // namespace penstock::gateway
