// The same on an event loop of Asio. Usage: example_shared_async [URL].
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <penstock/async.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace {

// [await]
boost::asio::awaitable<void> serve(penstock::AsyncLimiter& limiter) {
  const auto decision = co_await limiter.check("user:42", penstock::per_minute(100));
  if (!decision) {
    std::cout << "could not ask: " << decision.error().detail << '\n';
  } else {
    std::cout << to_string(decision->outcome()) << '\n';
  }
}
// [/await]

}  // namespace

int main(int argc, char** argv) {
  boost::asio::io_context context(1);
  auto limiter = penstock::AsyncLimiter::open(context.get_executor(),
                                              {.url = argc > 1 ? argv[1] : "redis://127.0.0.1:1"});
  if (!limiter) {
    std::cerr << limiter.error().detail << '\n';
    return 1;
  }
  boost::asio::co_spawn(context, serve(*limiter),
                        [&](const std::exception_ptr&) { context.stop(); });
  context.run();
}
