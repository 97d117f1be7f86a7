#pragma once

#include "net/asio_types.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <utility>

namespace penstock::gateway {

// Lets one coroutine wait until somebody wakes it. Thread-safety: none.
class Wakeup {
 public:
  // REQUIRES: nobody waits.
  [[nodiscard]] net::Awaitable<void> wait() {
    constexpr boost::asio::use_awaitable_t<net::Executor> kToken;
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<net::Executor>, void()>(
        [this](auto handler) {
          waiting_ = std::make_unique<Waiting<decltype(handler)>>(std::move(handler));
        },
        kToken);
  }

  [[nodiscard]] bool is_awaited() const noexcept { return waiting_ != nullptr; }

  // Who waits goes on within this call; nothing happens when nobody does.
  void wake() {
    if (const auto waiting = std::exchange(waiting_, nullptr)) waiting->go_on();
  }
  // Who waits is destroyed.
  void forget() { const auto forgotten = std::exchange(waiting_, nullptr); }

 private:
  struct AnyWaiting {
    AnyWaiting() = default;
    AnyWaiting(const AnyWaiting&) = delete;
    AnyWaiting& operator=(const AnyWaiting&) = delete;
    virtual ~AnyWaiting() = default;
    virtual void go_on() = 0;
  };
  template <class Handler>
  struct Waiting final : AnyWaiting {
    explicit Waiting(Handler given) : handler(std::move(given)) {}
    void go_on() override { std::move(handler)(); }
    Handler handler;
  };

  std::unique_ptr<AnyWaiting> waiting_;
};

}  // namespace penstock::gateway
