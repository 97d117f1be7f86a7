// Other operations: peek, refund, reset, block, counters.
#include <penstock/penstock.hpp>

#include <chrono>
#include <iostream>

int main() {
  using std::chrono::hours;
  using std::chrono::minutes;
  penstock::Limiter limiter;
  const penstock::Quota quota = penstock::per_minute(100);

  // [operations]
  (void)limiter.check("user:42", quota, penstock::Cost{30});
  std::cout << limiter.peek("user:42", quota).remaining() << " left\n";  // charges nothing

  limiter.refund("user:42", quota, penstock::Cost{30});  // the request failed
  limiter.reset("user:42");                              // clears the usage

  limiter.block("user:42", minutes{10});  // denied regardless of limits
  std::cout << to_string(limiter.check("user:42", quota).outcome()) << '\n';
  limiter.unblock("user:42");

  penstock::Counters counters = limiter.counters();
  const auto downloads = counters.add("downloads", 1, hours{1});  // expires an hour after the first
  // [/operations]
  if (downloads) std::cout << *downloads << " download\n";
}
