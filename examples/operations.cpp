// What operators and handlers need besides: look, give back, clear, block, count.
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

  limiter.refund("user:42", quota, penstock::Cost{30});  // the request failed: give it back
  limiter.reset("user:42");                              // forget what was used

  limiter.block("user:42", minutes{10});  // refused whatever the limits say
  std::cout << to_string(limiter.check("user:42", quota).outcome()) << '\n';
  limiter.unblock("user:42");

  penstock::Counters counters = limiter.counters();
  const auto downloads = counters.add("downloads", 1, hours{1});  // gone an hour after the first
  // [/operations]
  if (downloads) std::cout << *downloads << " download\n";
}
