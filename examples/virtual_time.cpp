// Limits in tests, with a manual clock instead of waiting.
#include <penstock/penstock.hpp>

#include <chrono>
#include <iostream>

int main() {
  using std::chrono::seconds;
  // [clock]
  penstock::ManualClock clock;
  penstock::Limiter limiter{penstock::MemoryOptions{.clock = &clock}};
  const penstock::Quota quota = penstock::per_minute(1);
  const bool first = limiter.check("user:42", quota).allowed();   // true
  const bool second = limiter.check("user:42", quota).allowed();  // false
  clock.advance(seconds{60});
  const bool third = limiter.check("user:42", quota).allowed();  // true again
  // [/clock]
  std::cout << std::boolalpha << first << ' ' << second << ' ' << third << '\n';
  return first && !second && third ? 0 : 1;
}
