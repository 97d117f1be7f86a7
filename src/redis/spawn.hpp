#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace penstock::redis {

// Runs a coroutine that nobody waits for. It reports what fails by itself; an exception that leaves
// it is a bug and ends the process.
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> coroutine);

}  // namespace penstock::redis
