// Limits from a configuration: invalid ones are rejected here.
#include <penstock/penstock.hpp>

#include <iostream>

int main() {
  for (const char* text : {"600/minute burst 100", "30/30s sliding_log", "1_000_000/day", "0/s",
                           "100/fortnight", "10/s burst 5 fixed_window"}) {
    // [parse]
    const auto quota = penstock::Quota::parse(text);
    if (!quota) {
      std::cout << quota.error().detail << '\n';
      continue;
    }
    std::cout << to_string(*quota) << ": at most " << quota->capacity() << " at once\n";
    // [/parse]
  }
  const int from_a_database = 250;
  // [make]
  const auto quota = penstock::Quota::make(penstock::per_hour(from_a_database).gcra());
  // [/make]
  std::cout << (quota ? to_string(*quota) : quota.error().detail) << '\n';
}
