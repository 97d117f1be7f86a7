#include "store/sharded_table.hpp"

#include "base/check.hpp"
#include "core/decide_all.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string>
#include <thread>

namespace penstock::store {
namespace {

// Enough that two threads seldom want the same one; few enough that their locks and table heads
// stay in the cache.
std::size_t shard_count(std::uint64_t max_keys) {
  const std::uint64_t for_threads = std::max<std::uint64_t>(
      16, std::bit_ceil(std::uint64_t{4} * std::thread::hardware_concurrency()));
  // eviction picks its victim within a shard, so a small store has few of them
  const std::uint64_t for_eviction = std::max<std::uint64_t>(1, max_keys / 64);
  // half of what the quota numbers of a shard can tell apart
  const std::uint64_t for_numbers = std::bit_ceil(max_keys >> (QuotaTable::kIdBits - 1));
  const std::uint64_t wanted =
      std::max(std::bit_floor(std::min(for_threads, for_eviction)), for_numbers);
  return std::min<std::size_t>(wanted, std::size_t{1} << kShardBits);
}

// More limits than usual requests have; longer lists go to the heap.
constexpr std::size_t kInlineChecks = 8;
// Around the year 3886. Slots have room for times until 4199, and a bucket may be full a hundred
// years from now.
constexpr Instant kLatestInstant{Days{700'000}};
// Positions that a sweep visits before it releases the lock of the shard.
constexpr std::size_t kSweptPerLock = 1024;
// Requests of a batch that are hashed before the first is decided.
constexpr std::size_t kHashedAhead = 64;
// How many of them are on their way from memory while one is decided: about as many decisions as a
// cache miss takes. More at once than the processor can keep track of are slower: of 4, 8, 12, 16,
// 24 and 64, four to eight were fastest, and 64 half as fast.
constexpr std::size_t kPrefetchedAhead = 6;

template <class Element>
class ShortList {
 public:
  explicit ShortList(std::size_t size) : size_(size) {
    if (size > kInlineChecks) long_.resize(size);
  }
  [[nodiscard]] std::span<Element> all() noexcept {
    return {size_ > kInlineChecks ? long_.data() : short_.data(), size_};
  }

 private:
  std::size_t size_;
  std::array<Element, kInlineChecks> short_{};
  std::vector<Element> long_;
};

// The locks of all shards that a request touches, each once, taken in the order of their address.
class PENSTOCK_SCOPED_CAPABILITY ShardLocks {
 public:
  explicit ShardLocks(std::span<Shard*> shards) noexcept PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    std::sort(shards.begin(), shards.end(), std::less<>{});
    const auto distinct = std::unique(shards.begin(), shards.end()) - shards.begin();
    shards_ = shards.first(static_cast<std::size_t>(distinct));
    for (Shard* shard : shards_) shard->lock.lock();
  }
  ~ShardLocks() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    for (Shard* shard : shards_) shard->lock.unlock();
  }
  ShardLocks(const ShardLocks&) = delete;
  ShardLocks& operator=(const ShardLocks&) = delete;

 private:
  std::span<Shard*> shards_;
};

}  // namespace

// A core::MultiCheckItem. REQUIRES: the lock of its shard is held by callers of preview() and
// decide().
struct ShardedTable::Planned {
  Target target;
  const Quota* quota = nullptr;
  Cost cost;
  Shard* shard = nullptr;
  Cost pending{0};

  [[nodiscard]] const Hash128& key() const noexcept { return target.slot; }
  [[nodiscard]] Decision preview(Cost units, Instant now) const PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    return shard->preview(target, *quota, units, now);
  }
  [[nodiscard]] Decision decide(Instant now) const PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
    return shard->decide(target, *quota, cost, now);
  }
};

struct ShardedTable::Plan {
  explicit Plan(std::size_t size) : list(size) {}

  ShortList<Planned> list;
};

ShardedTable::ShardedTable(const MemoryOptions& options, const KeyHasher& hasher)
    : options_(options),
      hasher_(hasher),
      clock_(options.clock == nullptr ? system_clock() : *options.clock),
      counters_(hasher_, clock_, options.max_counters),
      permits_(clock_),
      reservations_(clock_),
      operators_(clock_) {
  const std::size_t shards = shard_count(options.max_keys);
  shard_mask_ = shards - 1;
  bounds_.max_keys = options.max_keys;
  bounds_.max_heap_bytes = options.max_log_bytes;
  bounds_.max_blocks_per_shard = std::max<std::uint64_t>(16, options.max_keys / shards);
  for (std::size_t i = 0; i < shards; ++i) {
    const std::uint64_t seed = hasher_.key("shard " + std::to_string(i)).low;
    shards_.push_back(std::make_unique<Shard>(bounds_, i, shards, seed));
  }
}

Instant ShardedTable::now() const noexcept {
  return std::clamp(clock_.now(), Instant{}, kLatestInstant);
}

// Inlined: a call would add up to 5 % to a check.
[[gnu::always_inline]] inline Decision ShardedTable::check(const Hash128& hash, const Quota& quota,
                                                           Cost cost) noexcept {
  Shard& shard = shard_of(hash);
  shard.prefetch(hash);  // arrives while the clock is read
  const Instant present = now();
  const base::SpinGuard guard(shard.lock);
  return shard.decide({.slot = hash, .owner = hash}, quota, cost, present);
}

Decision ShardedTable::check(std::string_view key, const Quota& quota, Cost cost) noexcept {
  return check(hasher_.key(key), quota, cost);
}

Decision ShardedTable::check(std::string_view key, const Limits& limits, Cost cost) noexcept {
  const Hash128 owner = hasher_.key(key);
  Plan plan(limits.size());
  for (std::size_t i = 0; i < limits.size(); ++i) {
    plan.list.all()[i] = {
        .target = {.slot = hasher_.limit_of(owner, limits[i].name), .owner = owner},
        .quota = &limits[i].quota,
        .cost = cost,
        .shard = &shard_of(owner)};
  }
  return decide_all(plan, {});
}

Decision ShardedTable::check_all(std::span<const Check> checks, std::span<Decision> each) noexcept {
  PENSTOCK_CHECK(each.empty() || each.size() == checks.size());
  Plan plan(checks.size());
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Hash128 hash = hasher_.key(checks[i].key);
    plan.list.all()[i] = {.target = {.slot = hash, .owner = hash},
                          .quota = &checks[i].quota,
                          .cost = checks[i].cost,
                          .shard = &shard_of(hash)};
  }
  return decide_all(plan, each);
}

Decision ShardedTable::decide_all(Plan& plan, std::span<Decision> each) noexcept {
  const std::span<Planned> checks = plan.list.all();
  if (checks.empty()) return Decision::allow(0, 0, Duration{0});  // nothing limits it
  ShortList<Decision> scratch(each.empty() ? checks.size() : 0);
  const std::span<Decision> decisions = each.empty() ? scratch.all() : each;
  core::find_pending(checks);
  ShortList<Shard*> touched(checks.size());
  for (std::size_t i = 0; i < checks.size(); ++i) touched.all()[i] = checks[i].shard;

  const Instant present = now();
  const ShardLocks locks(touched.all());
  static_cast<void>(core::decide_all(checks, decisions, present));
  return core::strictest(decisions);
}

void ShardedTable::check_each(std::span<const Check> checks,
                              std::span<Decision> decisions) noexcept {
  PENSTOCK_CHECK(decisions.size() == checks.size());
  const Instant present = now();
  std::array<Hash128, kHashedAhead> hashes;
  for (std::size_t done = 0; done < checks.size(); done += kHashedAhead) {
    const std::size_t count = std::min(kHashedAhead, checks.size() - done);
    for (std::size_t i = 0; i < count; ++i) hashes[i] = hasher_.key(checks[done + i].key);
    const auto prefetch = [&](std::size_t i) {
      if (i < count) shard_of(hashes[i]).prefetch(hashes[i]);
    };
    for (std::size_t i = 0; i < kPrefetchedAhead; ++i) prefetch(i);
    for (std::size_t i = 0; i < count; ++i) {
      prefetch(i + kPrefetchedAhead);
      Shard& shard = shard_of(hashes[i]);
      const Check& check = checks[done + i];
      const base::SpinGuard guard(shard.lock);
      decisions[done + i] =
          shard.decide({.slot = hashes[i], .owner = hashes[i]}, check.quota, check.cost, present);
    }
  }
}

Decision ShardedTable::refund(const Hash128& hash, const Quota& quota, Cost cost,
                              Instant present) noexcept {
  const Target target{.slot = hash, .owner = hash};
  Shard& shard = shard_of(hash);
  const base::SpinGuard guard(shard.lock);
  shard.refund(target, cost, present);
  return shard.preview(target, quota, Cost{0}, present);
}

Decision ShardedTable::refund(std::string_view key, const Quota& quota, Cost cost) noexcept {
  return refund(hasher_.key(key), quota, cost, now());
}

Decision ShardedTable::refund(std::string_view key, const Limits& limits, Cost cost) noexcept {
  const Hash128 owner = hasher_.key(key);
  Shard& shard = shard_of(owner);
  const Instant present = now();
  ShortList<Decision> decisions(limits.size());
  const base::SpinGuard guard(shard.lock);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Target target{.slot = hasher_.limit_of(owner, limits[i].name), .owner = owner};
    shard.refund(target, cost, present);
    decisions.all()[i] = shard.preview(target, limits[i].quota, Cost{0}, present);
  }
  return core::strictest(decisions.all());
}

bool ShardedTable::reset(const Hash128& hash) noexcept {
  Shard& shard = shard_of(hash);
  const Instant present = now();
  const base::SpinGuard guard(shard.lock);
  return shard.reset(hash, present);
}

bool ShardedTable::reset(std::string_view key) noexcept { return reset(hasher_.key(key)); }

bool ShardedTable::reset(std::string_view key, const Limits& limits) noexcept {
  const Hash128 owner = hasher_.key(key);
  Shard& shard = shard_of(owner);
  const Instant present = now();
  const base::SpinGuard guard(shard.lock);
  bool any = false;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    any = shard.reset(hasher_.limit_of(owner, limits[i].name), present) || any;
  }
  return any;
}

bool ShardedTable::block(const Hash128& hash, Duration duration) noexcept {
  Shard& shard = shard_of(hash);
  const Instant present = now();
  const base::SpinGuard guard(shard.lock);
  return shard.block(hash, duration, present);
}

void ShardedTable::block(std::string_view key, Duration duration) noexcept {
  static_cast<void>(block(hasher_.key(key), duration));
}

bool ShardedTable::unblock(std::string_view key) noexcept {
  return block(hasher_.key(key), Duration{0});
}

Hash128 ShardedTable::hash_of(const core::LimitKey& name) const noexcept {
  const Hash128 subject = hasher_.key(name.subject);
  return name.limit.empty() ? subject : hasher_.limit_of(subject, name.limit);
}

Decision ShardedTable::check(const core::NamedCheck& named) noexcept {
  return check(hash_of(named.name), named.quota, named.cost);
}

ShardedTable::Planned ShardedTable::planned(const core::NamedCheck& check) const noexcept {
  const Hash128 hash = hash_of(check.name);
  Shard& shard = shard_of(hash);
  shard.prefetch(hash);
  return {.target = {.slot = hash, .owner = hash},
          .quota = &check.quota,
          .cost = check.cost,
          .shard = &shard};
}

void ShardedTable::check_all(std::span<const core::NamedCheck> checks,
                             std::span<Decision> each) noexcept {
  PENSTOCK_CHECK(each.size() == checks.size());
  Plan plan(checks.size());
  for (std::size_t i = 0; i < checks.size(); ++i) plan.list.all()[i] = planned(checks[i]);
  static_cast<void>(decide_all(plan, each));
}

void ShardedTable::check_all(std::span<const core::NamedCheck* const> checks,
                             std::span<Decision> each) noexcept {
  PENSTOCK_CHECK(each.size() == checks.size());
  Plan plan(checks.size());
  for (std::size_t i = 0; i < checks.size(); ++i) plan.list.all()[i] = planned(*checks[i]);
  static_cast<void>(decide_all(plan, each));
}

void ShardedTable::refund(std::span<const core::NamedCheck> checks,
                          std::span<Decision> each) noexcept {
  PENSTOCK_CHECK(each.size() == checks.size());
  const Instant present = now();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    each[i] = refund(hash_of(checks[i].name), checks[i].quota, checks[i].cost, present);
  }
}

void ShardedTable::raise_used(const core::LimitKey& name, const Quota& quota,
                              std::uint32_t used) noexcept {
  const Hash128 hash = hash_of(name);
  Shard& shard = shard_of(hash);
  shard.prefetch(hash);  // arrives while the clock is read
  const Instant present = now();
  const base::SpinGuard guard(shard.lock);
  shard.raise_used({.slot = hash, .owner = hash}, quota, used, present);
}

bool ShardedTable::reset(const core::LimitKey& name) noexcept { return reset(hash_of(name)); }

bool ShardedTable::block(const core::LimitKey& name, Duration duration) noexcept {
  return block(hash_of(name), duration);
}

MemoryStats ShardedTable::stats() const noexcept {
  MemoryStats stats;
  const Instant present = now();
  for (const std::unique_ptr<Shard>& shard : shards_) {
    const base::SpinGuard guard(shard->lock);
    shard->add_to(stats, present);
  }
  // relaxed: see Bounds
  stats.bytes += bounds_.heap_bytes.load(std::memory_order_relaxed);
  return stats;
}

void ShardedTable::clear() noexcept {
  for (const std::unique_ptr<Shard>& shard : shards_) {
    for (bool is_empty = false; !is_empty;) {
      const base::SpinGuard guard(shard->lock);
      is_empty = shard->clear(kSweptPerLock);
    }
  }
}

std::size_t ShardedTable::sweep(std::size_t entries) noexcept {
  std::size_t dropped = 0;
  const Instant present = now();
  // one shard after the other, going on where the last call stopped
  for (std::size_t visited = 0; entries > 0 && visited < shards_.size(); ++visited) {
    // relaxed: two callers on one shard are merely a little less even
    Shard& shard = *shards_[next_swept_.fetch_add(1, std::memory_order_relaxed) % shards_.size()];
    std::size_t left = entries;
    for (std::size_t looked_at = 0; left > 0; looked_at += kSweptPerLock) {
      const base::SpinGuard guard(shard.lock);
      if (looked_at >= shard.steps_around()) break;
      const std::size_t share = std::min({left, kSweptPerLock, shard.steps_around() - looked_at});
      dropped += shard.sweep_idle(share, present);
      left -= share;
    }
    entries = left;
  }
  return dropped;
}

}  // namespace penstock::store
