#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace penstock::redis {

// Coroutines receive the result of an operation as a tuple, its error first.
inline constexpr auto kIo = boost::asio::as_tuple(boost::asio::use_awaitable);

// Runs a detached coroutine. It handles its own errors; an escaping exception is a bug and ends the
// process.
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> coroutine);

}  // namespace penstock::redis
