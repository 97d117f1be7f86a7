// Several limits for one request: all or nothing.
#include <penstock/penstock.hpp>

#include <iostream>
#include <string>

namespace {

// [named]
// Built once. 10 per second for bursts, 5000 per day for the plan.
penstock::Result<penstock::Limits> plan_limits() {
  return penstock::Limits::make({
      {"per-second", penstock::per_second(10)},
      {"per-day", penstock::per_day(5000).sliding_counter()},
  });
}

std::string check_plan(penstock::Limiter& limiter, const penstock::Limits& limits) {
  auto decision = limiter.check("user:42", limits, penstock::Cost{3});
  return std::string(to_string(decision.outcome())) + ", decided by " +
         std::string(limits.name_of(decision));
}
// [/named]

// [keys]
// Each limit has its own key: the user, the organisation, all clients.
penstock::Decision check_global_limits(penstock::Limiter& limiter) {
  return limiter.check_all({
      {.key = "user:42", .quota = penstock::per_minute(100).burst(20)},
      {.key = "org:7", .quota = penstock::per_minute(1000)},
      {.key = "everyone", .quota = penstock::per_second(50'000)},
  });
}
// [/keys]

}  // namespace

int main() {
  penstock::Limiter limiter;
  const auto limits = plan_limits();
  if (!limits) {
    std::cerr << limits.error().detail << '\n';
    return 2;
  }
  for (int request = 0; request < 4; ++request) std::cout << check_plan(limiter, *limits) << '\n';
  const auto decision = check_global_limits(limiter);
  std::cout << to_string(decision.outcome()) << ", limit number " << decision.decided_by()
            << " is the strictest with " << decision.remaining() << " left\n";
}
