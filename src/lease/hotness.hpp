#pragma once

#include "store/hash128.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::lease {

// Detects keys that are requested often enough to lease, with a fixed number of counters for any
// number of keys. Keys that share a counter compete for it and the busier one wins: a key may be
// detected late, and wrongly for at most one interval.
//
// Thread-safety: none.
class Hotness {
 public:
  static constexpr std::uint32_t kHot = 8;  // requests in an interval

  explicit Hotness(std::size_t counters = 16'384) : cells_(counters) {}

  // Records a request for this key in this interval. Returns whether the key is hot.
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
