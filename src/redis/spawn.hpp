#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace penstock::redis {

// Coroutines get what an operation says, its error first, as a tuple.
inline constexpr auto kIo = boost::asio::as_tuple(boost::asio::use_awaitable);

// Runs a coroutine that nobody waits for. It reports what fails by itself; an exception that leaves
// it is a bug and ends the process.
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> coroutine);

}  // namespace penstock::redis
