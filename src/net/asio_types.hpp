#pragma once

#include "base/check.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <utility>

// Asio's types for one known executor: the type-erased defaults cost time in every operation.
namespace penstock::net {

using Executor = boost::asio::io_context::executor_type;
using Tcp = boost::asio::ip::tcp;
using Socket = boost::asio::basic_stream_socket<Tcp, Executor>;
using Acceptor = boost::asio::basic_socket_acceptor<Tcp, Executor>;
using Timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
template <class T>
using Awaitable = boost::asio::awaitable<T, Executor>;

inline constexpr auto kIo = boost::asio::as_tuple(boost::asio::use_awaitable_t<Executor>());

// Runs a coroutine without waiting for it. It handles its own failures; an exception that leaves it
// is a bug and ends the process.
inline void spawn(const Executor& executor, Awaitable<void> coroutine) {
  boost::asio::co_spawn(executor, std::move(coroutine), [](const std::exception_ptr& escaped) {
    PENSTOCK_CHECK(escaped == nullptr);
  });
}

}  // namespace penstock::net
