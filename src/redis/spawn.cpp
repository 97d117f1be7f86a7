#include "redis/spawn.hpp"

#include "base/check.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace penstock::redis {

void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> coroutine) {
  boost::asio::co_spawn(executor, std::move(coroutine), [](const std::exception_ptr& escaped) {
    PENSTOCK_CHECK(escaped == nullptr);
  });
}

}  // namespace penstock::redis
