// A batch of requests: same results as one by one, but cache misses overlap.
#include <penstock/penstock.hpp>

#include <array>
#include <iostream>
#include <string>
#include <vector>

int main() {
  penstock::Limiter limiter;
  const penstock::Quota quota = penstock::per_second(2);
  const std::array<std::string, 4> users{"ann", "bob", "ann", "ann"};
  // [batch]
  std::vector<penstock::Check> checks;
  for (const std::string& user : users) checks.push_back({.key = user, .quota = quota});
  std::vector<penstock::Decision> decisions(checks.size());
  limiter.check_each(checks, decisions);
  // [/batch]
  for (std::size_t i = 0; i < users.size(); ++i) {
    std::cout << users[i] << ": " << to_string(decisions[i].outcome()) << '\n';
  }
}
