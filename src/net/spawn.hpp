#pragma once

#include "base/check.hpp"
#include "net/asio_types.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace penstock::net {

// Runs a coroutine without waiting for it. It handles its own failures; an exception that leaves it
// is a bug and ends the process.
inline void spawn(const Executor& executor, Awaitable<void> coroutine) {
  boost::asio::co_spawn(executor, std::move(coroutine), [](const std::exception_ptr& escaped) {
    PENSTOCK_CHECK(escaped == nullptr);
  });
}

}  // namespace penstock::net
