#include "store/permit_table.hpp"

#include <algorithm>
#include <functional>

namespace penstock::store {
namespace {

// What the tables need for a permit and for a key, without their names, roughly.
constexpr std::size_t kPermitBytes = 250;
constexpr std::size_t kKeyBytes = 250;
constexpr std::size_t kSweepPerCall = 2;
constexpr Duration kBetweenSweeps = std::chrono::seconds{1};

std::size_t bytes_of(const std::string& key, const core::PermitSet& permits) {
  return key.size() + kKeyBytes + 2 * permits.name_bytes() + permits.size() * kPermitBytes;
}

}  // namespace

PermitTable::Part& PermitTable::part_of(std::string_view key) {
  return parts_[std::hash<std::string_view>{}(key) % parts_.size()];
}

template <class Do>
auto PermitTable::with_permits(Part& part, const std::string& key, const Do& action) {
  part.latest = std::max(part.latest, clock_.now());
  sweep_some(part, part.latest, bytes_);
  const auto [known, is_new] = part.keys.try_emplace(key);
  core::PermitSet& permits = known->second;
  if (!is_new) bytes_.fetch_sub(bytes_of(key, permits), std::memory_order_relaxed);
  auto answer = action(permits, part.latest);
  if (permits.size() == 0) {
    part.keys.erase(known);
  } else {
    bytes_.fetch_add(bytes_of(key, permits), std::memory_order_relaxed);
  }
  return answer;
}

Result<core::PermitResult> PermitTable::acquire(const PermitName& permit, std::uint32_t limit,
                                                Duration lasts) {
  const std::size_t needed = permit.key.size() + kKeyBytes + 2 * permit.id.size() + kPermitBytes;
  if (bytes() + needed > max_bytes_ && is_time_to_sweep()) sweep_all();
  Part& part = part_of(permit.key);
  const std::lock_guard lock(part.mutex);
  return with_permits(
      part, permit.key, [&](core::PermitSet& permits, Instant now) -> Result<core::PermitResult> {
        if (bytes() + needed > max_bytes_) {
          const core::PermitResult renewed = permits.renew(permit.id, lasts, now);
          if (renewed.held) return renewed;
          return Error{ErrorCode::CapacityExhausted,
                       "a permit of \"" + permit.key + "\" would need more than the " +
                           std::to_string(max_bytes_) + " bytes for permits"};
        }
        return permits.acquire(permit.id, limit, lasts, now);
      });
}

core::PermitResult PermitTable::renew(const PermitName& permit, Duration lasts) {
  Part& part = part_of(permit.key);
  const std::lock_guard lock(part.mutex);
  return with_permits(part, permit.key, [&](core::PermitSet& permits, Instant now) {
    return permits.renew(permit.id, lasts, now);
  });
}

bool PermitTable::release(const PermitName& permit) {
  Part& part = part_of(permit.key);
  const std::lock_guard lock(part.mutex);
  return with_permits(part, permit.key, [&](core::PermitSet& permits, Instant now) {
    return permits.release(permit.id, now);
  });
}

// Visits a few keys with every call, so that unused keys are dropped.
void PermitTable::sweep_some(Part& part, Instant now, std::atomic<std::size_t>& bytes) {
  auto next = part.keys.lower_bound(part.swept_to);
  for (std::size_t i = 0; i < kSweepPerCall && !part.keys.empty(); ++i) {
    if (next == part.keys.end()) next = part.keys.begin();
    bytes.fetch_sub(bytes_of(next->first, next->second), std::memory_order_relaxed);
    if (next->second.expire(now) == 0) {
      next = part.keys.erase(next);
    } else {
      bytes.fetch_add(bytes_of(next->first, next->second), std::memory_order_relaxed);
      ++next;
    }
  }
  part.swept_to = next == part.keys.end() ? std::string{} : next->first;
}

bool PermitTable::is_time_to_sweep() noexcept {
  const Instant now = clock_.now();
  Instant due = next_sweep_.load(std::memory_order_relaxed);
  return now >= due &&
         next_sweep_.compare_exchange_strong(due, now + kBetweenSweeps, std::memory_order_relaxed);
}

void PermitTable::sweep_all() {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    part.latest = std::max(part.latest, clock_.now());
    for (std::size_t keys = part.keys.size(), done = 0; done < keys; done += kSweepPerCall) {
      sweep_some(part, part.latest, bytes_);
    }
  }
}

}  // namespace penstock::store
