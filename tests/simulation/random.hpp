#pragma once

#include <cstdint>

namespace penstock::simulation {

// Reproducible on every machine and cheap to seed: every simulation run has its own.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e37'79b9'7f4a'7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d0'49bb'1331'11ebU;
    return mixed ^ (mixed >> 31U);
  }
  // REQUIRES: bound > 0.
  [[nodiscard]] std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  // Both included.
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + below(most - least + 1);
  }
  [[nodiscard]] bool percent(std::int64_t chance) { return below(100) < chance; }
  // From 1 to `most`; every order of magnitude is about equally likely.
  [[nodiscard]] std::int64_t magnitude(std::int64_t most) {
    std::int64_t bound = most;
    for (std::int64_t halvings = below(24); halvings > 0 && bound > 1; --halvings) bound /= 2;
    return between(1, bound);
  }
  // A wait with about this mean: mostly short, sometimes several times as long.
  [[nodiscard]] std::int64_t wait(std::int64_t mean) {
    const std::int64_t most = percent(25) ? 5 * mean : mean;
    return below(most + 1);
  }
  template <class List>
  [[nodiscard]] const auto& pick(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace penstock::simulation
