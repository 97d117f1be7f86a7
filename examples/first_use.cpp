// A minimal program: 100 requests per minute per user, with a burst of 20.
#include <penstock/penstock.hpp>

#include <iostream>
#include <string>

namespace {

std::string answer(penstock::Limiter& limiter, const std::string& user) {
  // [check]
  auto decision = limiter.check("user:" + user, penstock::per_minute(100).burst(20));
  if (!decision.allowed()) {
    return "429, retry after " +
           std::to_string(penstock::ceil_seconds(*decision.retry_after()).count()) + " s";
  }
  return "200, " + std::to_string(decision.remaining()) + " left";
  // [/check]
}

}  // namespace

int main() {
  // [limiter]
  penstock::Limiter limiter{penstock::MemoryOptions{.max_keys = 1'000'000}};
  // [/limiter]
  for (int request = 0; request < 22; ++request) std::cout << answer(limiter, "42") << '\n';
}
