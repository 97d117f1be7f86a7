#include "replay/statistics/peak_table.hpp"

#include "base/text_hash.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace penstock::replay {
namespace {

constexpr std::uint64_t kMostUnits = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  return a > kMostUnits - b ? kMostUnits : a + b;
}

}  // namespace

void PeakTable::add(std::string_view subject, std::uint64_t units, Instant time) {
  const std::uint64_t hash = base::TextHash{}(subject);
  auto found = peaks_.find(hash);
  if (found == peaks_.end()) {
    if (peaks_.size() >= max_subjects_) {
      is_incomplete_ = true;
      return;
    }
    found = peaks_.try_emplace(hash).first;
  }
  Peak& peak = found->second;
  const std::int64_t number = time.time_since_epoch() / slot_;
  // units of absurd cost cannot wrap around: a sum never exceeds a quarter of the range
  units = std::min(units, kMostUnits / 4 / static_cast<std::uint64_t>(kSlots + 1));
  if (number == peak.last.number) {
    peak.last.units = std::min(sum_of(peak.last.units, units), kMostUnits / 4);
  } else {
    if (peak.last.units > 0) peak.older.push_back(peak.last);
    peak.last = {.number = number, .units = units};
    const auto fresh = std::find_if(peak.older.begin(), peak.older.end(), [&](const Slot& slot) {
      return slot.number >= number - kSlots;
    });
    peak.older.erase(peak.older.begin(), fresh);
    if (peak.older.empty()) peak.older.shrink_to_fit();
  }
  peak.sum = peak.last.units;
  for (const Slot& slot : peak.older) peak.sum = sum_of(peak.sum, slot.units);
  peak.highest = std::max(peak.highest, peak.sum);
}

std::vector<std::uint64_t> PeakTable::sorted_peaks() const {
  std::vector<std::uint64_t> peaks;
  peaks.reserve(peaks_.size());
  for (const auto& [hash, peak] : peaks_) peaks.push_back(peak.highest);
  std::sort(peaks.begin(), peaks.end());
  return peaks;
}

std::uint64_t round_limit(std::uint64_t peak) noexcept {
  constexpr std::array<std::uint64_t, 8> kTenths{10, 15, 20, 30, 40, 50, 60, 80};
  if (peak <= 6) return std::max<std::uint64_t>(peak, 1);
  for (std::uint64_t unit = 1; unit < kMostUnits / 1000; unit *= 10) {
    for (const std::uint64_t tenths : kTenths) {
      if (tenths * unit >= peak) return tenths * unit;
    }
  }
  return peak;
}

std::uint64_t count_above(const std::vector<std::uint64_t>& peaks, std::uint64_t limit) {
  return static_cast<std::uint64_t>(peaks.end() -
                                    std::upper_bound(peaks.begin(), peaks.end(), limit));
}

std::vector<Suggestion> suggest_limits(const std::vector<std::uint64_t>& peaks) {
  std::vector<Suggestion> suggestions;
  if (peaks.empty()) return suggestions;
  constexpr std::array<std::uint64_t, 3> kShares{990, 999, 1000};
  for (const std::uint64_t per_mille : kShares) {
    const std::uint64_t within = (peaks.size() * per_mille + 999) / 1000;  // rounded up
    Suggestion one{.per_mille = per_mille, .peak = peaks[within - 1]};
    one.limit = round_limit(one.peak);
    one.subjects_above = count_above(peaks, one.limit);
    // a larger share with the same peak says more
    if (!suggestions.empty() && suggestions.back().peak == one.peak) suggestions.pop_back();
    suggestions.push_back(one);
  }
  return suggestions;
}

}  // namespace penstock::replay
