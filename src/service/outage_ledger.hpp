#pragma once

#include "core/named_check.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace penstock::service {

// Units that this node admitted while the shared store was unavailable, and has not reported yet.
//
// Each entry is taken once, so that it is never reported twice.
//
// Thread-safety: all members, from any thread.
class OutageLedger {
 public:
  struct Entry {
    core::LimitKey name;
    Quota quota;  // undivided
    std::uint64_t units = 0;
  };
  struct Totals {
    std::uint64_t names = 0;     // not reported yet
    std::uint64_t reported = 0;  // units that the store has charged
    std::uint64_t lost = 0;      // units that are never reported
  };

  // Some 20 MB of names of usual length.
  static constexpr std::size_t kMaxNames = 65'536;
  explicit OutageLedger(std::size_t max_names = kMaxNames) : max_names_(max_names) {}

  // When it is full, units of a new name are lost, and counted as such.
  void note(const core::LimitKey& name, const Quota& quota, std::uint64_t units);
  // These units were not admitted after all. Entries that were taken in between stay taken.
  void remove(const core::LimitKey& name, std::uint64_t units);
  [[nodiscard]] std::vector<Entry> take(std::size_t most);

  // What became of an entry that was taken.
  void count_reported(std::uint64_t units) noexcept;
  void count_lost(std::uint64_t units) noexcept;

  [[nodiscard]] bool is_empty() const noexcept {
    return names_.load(std::memory_order_relaxed) == 0;  // relaxed: callers poll
  }
  [[nodiscard]] Totals totals() const noexcept;

 private:
  struct Record {
    Quota quota;
    std::uint64_t units = 0;
  };

  const std::size_t max_names_;
  // relaxed, all three: numbers by themselves
  std::atomic<std::uint64_t> names_{0};
  std::atomic<std::uint64_t> reported_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;
  // Guarded by mutex_. Ordered, not hashed: clients choose the names.
  std::map<core::LimitKey, Record> records_;
};

}  // namespace penstock::service
