// A limit that many servers share in Redis, and the handling of an outage. Usage:
// example_shared_limit [URL].
#include <penstock/penstock.hpp>

#include <iostream>
#include <string>

namespace {

// [ask]
std::string answer(penstock::SharedLimiter& limiter, const std::string& user) {
  const auto decision = limiter.check("user:" + user, penstock::per_minute(100).burst(20));
  if (!decision) {
    // the store is unavailable: the application decides
    return "200, not counted: " + decision.error().detail;
  }
  if (decision->allowed()) return "200, " + std::to_string(decision->remaining()) + " left";
  return "429, retry after " +
         std::to_string(penstock::ceil_seconds(*decision->retry_after()).count()) + " s";
}
// [/ask]

}  // namespace

int main(int argc, char** argv) {
  const std::string url = argc > 1 ? argv[1] : "redis://127.0.0.1:1";  // nothing listens here
  // [open]
  auto limiter = penstock::SharedLimiter::open({.url = url});
  if (!limiter) {
    std::cerr << limiter.error().detail << '\n';
    return 1;
  }
  // [/open]
  for (int request = 0; request < 3; ++request) std::cout << answer(*limiter, "42") << '\n';
}
