#pragma once

#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::replay {

// The highest usage of each subject of one limit in any period of the limit, counted in
// kSlots + 1 slots of a kSlots-th of the period.
//
// The error is bounded: the peak is at least the usage in every period, and at most the usage in
// some time of a period and a 60th (a slot is rounded up to a microsecond). So a subject whose peak
// is within a limit never exceeds it.
//
// A 64-bit hash identifies a subject. Memory is bounded: further subjects are not counted. A
// subject that is active in every slot takes about 1 KB.
//
// Thread-safety: none.
class PeakTable {
 public:
  static constexpr std::int64_t kSlots = 60;
  static constexpr std::size_t kMaxSubjects = 20'000'000;

  explicit PeakTable(Duration period, std::size_t max_subjects = kMaxSubjects)
      : slot_(slot_of(period)), max_subjects_(max_subjects) {}

  // REQUIRES: times never step back.
  void add(std::string_view subject, std::uint64_t units, Instant time);

  [[nodiscard]] std::uint64_t subjects() const noexcept { return peaks_.size(); }
  // Subjects beyond the bound were not counted.
  [[nodiscard]] bool is_incomplete() const noexcept { return is_incomplete_; }
  // In ascending order.
  [[nodiscard]] std::vector<std::uint64_t> sorted_peaks() const;

 private:
  // Rounded up: the slots are never shorter than the period.
  [[nodiscard]] static constexpr Duration slot_of(Duration period) {
    return (period + Duration{kSlots - 1}) / kSlots;
  }

  struct Slot {
    std::int64_t number = 0;
    std::uint64_t units = 0;
  };
  struct Peak {
    std::uint64_t highest = 0;
    std::uint64_t sum = 0;      // of the slots
    Slot last{};                // the newest
    std::vector<Slot> older{};  // those before it that still count; most subjects have none
  };

  const Duration slot_;
  const std::size_t max_subjects_;
  std::unordered_map<std::uint64_t, Peak> peaks_;
  bool is_incomplete_ = false;
};

// "99.9 % of 48210 subjects use at most 240 in a period; 12 use more than 300."
struct Suggestion {
  std::uint64_t per_mille = 0;       // of the subjects: 990, 999, 1000
  std::uint64_t peak = 0;            // their usage is at most this
  std::uint64_t limit = 0;           // the peak, rounded up to a round number
  std::uint64_t subjects_above = 0;  // their usage is above that limit
};

// REQUIRES: the peaks are in ascending order.
[[nodiscard]] std::vector<Suggestion> suggest_limits(const std::vector<std::uint64_t>& peaks);
[[nodiscard]] std::uint64_t count_above(const std::vector<std::uint64_t>& peaks,
                                        std::uint64_t limit);
// The next of 1, 1.5, 2, 3, 4, 5, 6, 8, 10, ...
[[nodiscard]] std::uint64_t round_limit(std::uint64_t peak) noexcept;

}  // namespace penstock::replay
