#include <penstock/penstock.hpp>

int main() {
  penstock::Limiter limiter{penstock::MemoryOptions{.max_keys = 1000}};
  auto decision = limiter.check("user:42", penstock::per_minute(100).burst(20));
  return decision.allowed() ? 0 : 1;
}
