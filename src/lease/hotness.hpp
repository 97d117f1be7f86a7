#pragma once

#include "store/hash128.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::lease {

// Which keys are asked for often enough that a lease is worth it, from so many counters however
// many keys there are. Two keys that meet in one counter fight for it: the busier one wins, so that
// a key is seldom called hot a little late, and never by mistake for longer than an interval.
//
// Thread-safety: none.
class Hotness {
 public:
  static constexpr std::uint32_t kHot = 8;  // times in an interval

  explicit Hotness(std::size_t counters = 16'384) : cells_(counters) {}

  // One more request for this key, in the interval of this number. Whether it is hot.
  [[nodiscard]] bool note(const store::Hash128& key, std::uint32_t interval) noexcept {
    Cell& cell = cells_[key.low % cells_.size()];
    const auto tag = static_cast<std::uint32_t>(key.high >> 32U);
    if (cell.interval != interval || cell.count == 0) {
      cell = {.tag = tag, .interval = interval, .count = 1};
      return false;
    }
    if (cell.tag != tag) {
      --cell.count;
      return false;
    }
    return ++cell.count >= kHot;
  }

 private:
  struct Cell {
    std::uint32_t tag = 0;
    std::uint32_t interval = 0;
    std::uint32_t count = 0;
  };
  std::vector<Cell> cells_;
};

}  // namespace penstock::lease
