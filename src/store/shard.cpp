#include "store/shard.hpp"

#include "core/any_state.hpp"
#include "store/slot_codec.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace penstock::store {
namespace {

// Expired neighbours looked for whenever a key is added: a table that only grows by new keys is
// then swept once for every quarter of its size.
constexpr std::size_t kSweepPerInsert = 4;
// An idle sweep also ends a resize, at about the price of its own steps.
constexpr std::size_t kSweptPerAdvance = 64;
// Keys to choose a victim from; Redis samples 5, and finds 10 close to a true ordering.
constexpr std::size_t kEvictionSample = 8;
// From several places, because where drained keys are neighbours by chance, the others among them
// would be evicted until only drained ones are left to choose from; and two in each, because those
// share a cache line.
constexpr std::size_t kSampledPlaces = 4;
// A table is never less than a quarter full for long, so this many misses in a row are hardly seen.
constexpr int kDraws = 64;

}  // namespace

Shard::~Shard() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t position = 0; position < table_.positions(); ++position) {
    if (Slot* slot = table_.at_position(position)) free_heap(*slot);
  }
}

Instant Shard::advance_to(Instant now) {
  latest_ = std::max(latest_, now);
  table_.advance();
  return latest_;
}

std::optional<Decision> Shard::blocked(const Hash128& owner, const Quota& quota, Instant now) {
  const auto found = blocked_until_.find(owner);
  if (found == blocked_until_.end()) return std::nullopt;
  if (now < found->second) return Decision::block(quota.capacity(), found->second - now);
  blocked_until_.erase(found);
  any_blocked_ = !blocked_until_.empty();
  return std::nullopt;
}

Decision Shard::answer(const Question& question, Instant now) {
  now = advance_to(now);
  const Quota& quota = question.quota;
  if (any_blocked_) [[unlikely]] {
    if (const std::optional<Decision> refusal = blocked(question.target.owner, quota, now)) {
      return *refusal;
    }
  }
  Slot* slot = table_.find(question.target.slot);
  if (slot != nullptr && !(quotas_[quota_id(*slot)] == quota)) [[unlikely]] {
    return answer_changed(slot, question, now);
  }
  return core::with_algorithm(quota.algorithm(),
                              [&]<class Algorithm>() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
                                if constexpr (kOnHeap<Algorithm>) {
                                  return answer_on_heap<Algorithm>(slot, question, now);
                                } else {
                                  return answer_in_slot<Algorithm>(slot, question, now);
                                }
                              });
}

template <class Algorithm>
Decision Shard::answer_in_slot(Slot* slot, const Question& question, Instant now) {
  using Codec = SlotCodec<Algorithm>;
  const Quota& quota = question.quota;
  typename Algorithm::State state{};
  if (slot != nullptr) state = Codec::load(*slot);
  if constexpr (!Codec::kStaysSettled) static_cast<void>(Algorithm::settle(state, quota, now));
  const Decision decision = Algorithm::evaluate(state, quota, question.cost, now);
  if (!question.takes_when(decision)) return decision;
  Algorithm::commit(state, quota, question.cost, now);
  if (slot == nullptr) slot = insert(question.target.slot, quota, now);
  Codec::save(*slot, state);
  return decision;
}

template <class Algorithm>
Decision Shard::answer_on_heap(Slot* slot, const Question& question, Instant now) {
  using HeapState = typename Algorithm::State;
  const Quota& quota = question.quota;
  HeapState* state = slot == nullptr ? nullptr : HeapCodec<Algorithm>::get(*slot);
  HeapState fresh;
  HeapState& mine = state == nullptr ? fresh : *state;
  static_cast<void>(Algorithm::settle(mine, quota, now));
  const Decision decision = Algorithm::evaluate(mine, quota, question.cost, now);
  if (!question.takes_when(decision)) return decision;
  const std::size_t before = heap_bytes(mine);
  Algorithm::commit(mine, quota, question.cost, now);
  if (state == nullptr) {
    slot = insert(question.target.slot, quota, now);
    put_on_heap<Algorithm>(*slot, std::move(fresh));
  } else {
    count_heap_bytes(before, heap_bytes(mine));
  }
  evict_logs(question.target.slot, now);
  return decision;
}

Decision Shard::answer_changed(Slot* slot, const Question& question, Instant now) {
  core::AnyState state = load_any(*slot);
  Quota owner = quotas_[quota_id(*slot)];
  const Decision decision = core::decide_under(state, owner, question.quota, question.cost, now);
  if (question.takes_when(decision)) replace(slot, owner, std::move(state), now);
  return decision;
}

void Shard::raise_used(const Target& target, const Quota& quota, std::uint32_t used, Instant now) {
  if (any_blocked_) static_cast<void>(unblock(target.owner, now));
  if (used == 0) return;
  const Decision before = preview(target, quota, Cost{0}, now);
  const std::uint32_t counted = before.limit() - before.remaining();
  const std::uint32_t wanted = std::min(used, quota.capacity());
  if (wanted > counted) static_cast<void>(decide(target, quota, Cost{wanted - counted}, now));
}

void Shard::refund(const Target& target, Cost cost, Instant now) {
  now = advance_to(now);
  Slot* slot = table_.find(target.slot);
  if (slot == nullptr || cost.units == 0) return;
  core::AnyState state = load_any(*slot);
  const Quota owner = quotas_[quota_id(*slot)];
  core::refund(state, owner, cost, now);
  replace(slot, owner, std::move(state), now);
}

bool Shard::reset(const Hash128& slot_hash, Instant now) {
  now = advance_to(now);
  Slot* slot = table_.find(slot_hash);
  if (slot == nullptr) return false;
  const bool had_used_something = used(*slot, now) > 0;
  erase(slot);
  return had_used_something;
}

bool Shard::block(const Hash128& owner, Duration duration, Instant now) {
  now = advance_to(now);
  const bool was_blocked = unblock(owner, now);
  if (duration <= Duration{0}) return was_blocked;
  if (blocked_until_.size() >= bounds_.max_blocks_per_shard) drop_ended_blocks(now);
  if (blocked_until_.size() >= bounds_.max_blocks_per_shard) {
    const auto soonest =
        std::min_element(blocked_until_.begin(), blocked_until_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    ++counts_.blocks_evicted;
    blocked_until_.erase(soonest);
  }
  blocked_until_[owner] = now + std::min(duration, Quota::kMaxRefill);
  any_blocked_ = true;
  return was_blocked;
}

void Shard::drop_ended_blocks(Instant now) {
  std::erase_if(blocked_until_, [&](const auto& block) { return block.second <= now; });
  any_blocked_ = !blocked_until_.empty();
}

bool Shard::unblock(const Hash128& owner, Instant now) {
  const auto found = blocked_until_.find(owner);
  if (found == blocked_until_.end()) return false;
  const bool was_blocked = found->second > now;
  blocked_until_.erase(found);
  any_blocked_ = !blocked_until_.empty();
  return was_blocked;
}

core::AnyState Shard::load_any(const Slot& slot) const {
  return core::with_algorithm(quotas_[quota_id(slot)].algorithm(),
                              [&]<class Algorithm>() -> core::AnyState {
                                if constexpr (kOnHeap<Algorithm>) {
                                  return *HeapCodec<Algorithm>::get(slot);
                                } else {
                                  return SlotCodec<Algorithm>::load(slot);
                                }
                              });
}

void Shard::replace(Slot* slot, const Quota& quota, core::AnyState state, Instant now) {
  free_heap(*slot);
  // acquire first: the old and the new quota may be the same
  const std::uint32_t id = quotas_.acquire(quota);
  quotas_.release(quota_id(*slot));
  set_quota_id(*slot, id);
  core::with_algorithm(quota.algorithm(),
                       [&]<class Algorithm>() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
                         auto& mine = std::get<typename Algorithm::State>(state);
                         if constexpr (kOnHeap<Algorithm>) {
                           put_on_heap<Algorithm>(*slot, std::move(mine));
                           evict_logs(slot->hash, now);
                         } else {
                           SlotCodec<Algorithm>::save(*slot, mine);
                         }
                       });
}

Slot* Shard::insert(const Hash128& hash, const Quota& quota, Instant now) {
  sweep(kSweepPerInsert, now);
  // relaxed: see Bounds. Counted before it is there, so that two shards cannot both take the last
  // place.
  if (bounds_.keys.fetch_add(1, std::memory_order_relaxed) >= bounds_.max_keys) evict_key(now);
  while (table_.is_full() && evict_key(now)) {
  }
  Slot* slot = table_.insert(hash);
  set_quota_id(*slot, quotas_.acquire(quota));
  return slot;
}

void Shard::erase(Slot* slot) {
  free_heap(*slot);
  quotas_.release(quota_id(*slot));
  table_.erase(slot);
  bounds_.keys.fetch_sub(1, std::memory_order_relaxed);
}

template <class Algorithm>
void Shard::put_on_heap(Slot& slot, typename Algorithm::State state) {
  auto* moved = std::make_unique<typename Algorithm::State>(std::move(state)).release();
  HeapCodec<Algorithm>::put(slot, moved, static_cast<std::uint32_t>(logs_.size()));
  logs_.push_back(slot.hash);
  count_heap_bytes(0, heap_bytes(*moved));
}

void Shard::free_heap(Slot& slot) {
  core::with_algorithm(
      quotas_[quota_id(slot)].algorithm(),
      [&]<class Algorithm>() PENSTOCK_NO_THREAD_SAFETY_ANALYSIS {
        if constexpr (kOnHeap<Algorithm>) {
          const std::unique_ptr<typename Algorithm::State> state(HeapCodec<Algorithm>::get(slot));
          if (state == nullptr) return;
          count_heap_bytes(heap_bytes(*state), 0);
          const std::uint32_t log_index = HeapCodec<Algorithm>::log_index(slot);
          HeapCodec<Algorithm>::put(slot, nullptr, 0);
          // the last of the list takes its place
          logs_[log_index] = logs_.back();
          logs_.pop_back();
          if (log_index < logs_.size()) set_log_index(*table_.find(logs_[log_index]), log_index);
        }
      });
}

void Shard::count_heap_bytes(std::size_t before, std::size_t after) {
  // relaxed, and wrapping: see Bounds
  bounds_.heap_bytes.fetch_add(std::uint64_t{after} - before, std::memory_order_relaxed);
}

bool Shard::evict_key(Instant now) {
  if (table_.size() == 0) return false;
  Candidate fullest;
  const bool takes_all = table_.size() <= kEvictionSample;
  const std::size_t places = takes_all ? 1 : kSampledPlaces;
  const std::size_t neighbours = takes_all ? table_.size() : kEvictionSample / kSampledPlaces;
  for (std::size_t place = 0; place < places; ++place) {
    Slot* slot = random_slot();
    for (std::size_t seen = 0; seen < neighbours; ++seen) {
      consider(slot, fullest, now);
      slot = table_.occupied_from(table_.position_of(slot) + 1);
    }
  }
  evict(fullest);
  return true;
}

Slot* Shard::random_slot() {
  // Drawn evenly from all slots. The first one behind a random position would more often be one
  // behind a gap, which widens the gaps until the rest of the table is long runs.
  for (int draw = 0; draw < kDraws; ++draw) {
    if (Slot* slot = table_.at_position(random() % table_.positions())) return slot;
  }
  return table_.occupied_from(random() % table_.positions());
}

void Shard::evict_logs(Hash128 keep, Instant now) {
  // relaxed: see Bounds
  while (logs_.size() > 1 &&
         bounds_.heap_bytes.load(std::memory_order_relaxed) > bounds_.max_heap_bytes) {
    Candidate fullest;
    const std::size_t first = random() % logs_.size();
    for (std::size_t i = 0; i < std::min(logs_.size(), kEvictionSample + 1); ++i) {
      const Hash128& hash = logs_[(first + i) % logs_.size()];
      if (!(hash == keep)) consider(table_.find(hash), fullest, now);
    }
    evict(fullest);
  }
}

void Shard::consider(Slot* slot, Candidate& fullest, Instant now) const {
  const std::uint64_t slot_used = used(*slot, now);
  const std::uint64_t share_used = (slot_used << 32U) / quotas_[quota_id(*slot)].capacity();
  if (share_used < fullest.share_used) {
    fullest = {.slot = slot, .used = slot_used, .share_used = share_used};
  }
}

void Shard::evict(const Candidate& candidate) {
  if (candidate.used > 0) {
    ++counts_.evicted;
    counts_.evicted_usage += candidate.used;
  } else {
    ++counts_.expired;
  }
  erase(candidate.slot);
}

std::uint32_t Shard::used(const Slot& slot, Instant now) const {
  const Quota& quota = quotas_[quota_id(slot)];
  return core::with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    if constexpr (kOnHeap<Algorithm>) {
      auto& state = *HeapCodec<Algorithm>::get(slot);
      static_cast<void>(Algorithm::settle(state, quota, now));
      return Algorithm::used(state, quota, now);
    } else {
      auto state = SlotCodec<Algorithm>::load(slot);
      static_cast<void>(Algorithm::settle(state, quota, now));
      return Algorithm::used(state, quota, now);
    }
  });
}

bool Shard::has_expired(const Slot& slot, Instant now) const {
  const Quota& quota = quotas_[quota_id(slot)];
  return core::with_algorithm(quota.algorithm(), [&]<class Algorithm>() {
    if constexpr (kOnHeap<Algorithm>) {
      return Algorithm::expires_at(*HeapCodec<Algorithm>::get(slot), quota) <= now;
    } else {
      return Algorithm::expires_at(SlotCodec<Algorithm>::load(slot), quota) <= now;
    }
  });
}

bool Shard::clear(std::size_t keys) {
  blocked_until_.clear();
  any_blocked_ = false;
  for (; keys > 0 && table_.size() > 0; --keys) {
    Slot* const slot = table_.occupied_from(sweep_position_);
    sweep_position_ = table_.position_of(slot);
    erase(slot);
  }
  if (table_.size() > 0) return false;
  table_.shrink_if_sparse();
  return true;
}

std::size_t Shard::sweep(std::size_t steps, Instant now) {
  // A thread that read the clock earlier must not miss what is dropped now.
  latest_ = std::max(latest_, now);
  std::size_t dropped = 0;
  bool went_around = false;
  for (std::size_t step = 0; step < steps; ++step) {
    if (sweep_position_ >= table_.positions()) {
      sweep_position_ = 0;
      went_around = true;
    }
    Slot* slot = table_.at_position(sweep_position_);
    if (slot == nullptr || !has_expired(*slot, latest_)) {
      ++sweep_position_;
      continue;
    }
    // a neighbour may have moved into the gap: look at this position again
    erase(slot);
    ++dropped;
  }
  counts_.expired += dropped;
  if (went_around) {
    table_.shrink_if_sparse();
    if (logs_.size() < logs_.capacity() / 4) logs_.shrink_to_fit();
  }
  return dropped;
}

std::size_t Shard::sweep_idle(std::size_t steps, Instant now) {
  // no later call may come to finish a resize
  for (std::size_t done = 0; done < steps && table_.is_resizing(); done += kSweptPerAdvance) {
    table_.advance();
  }
  drop_ended_blocks(now);
  return sweep(steps, now);
}

std::uint64_t Shard::random() {
  // xorshift64: which neighbours are sampled only has to be spread evenly, not secret
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  return random_;
}

void Shard::add_to(MemoryStats& stats, Instant now) const {
  // a node of the map, in the heap's granularity, and its bucket
  constexpr std::size_t kBlockBytes = 56;
  stats.keys += table_.size();
  stats.bytes += sizeof(Shard) + table_.bytes() + quotas_.bytes() +
                 logs_.capacity() * sizeof(Hash128) + blocked_until_.size() * kBlockBytes;
  const Instant present = std::max(latest_, now);
  stats.blocked += static_cast<std::uint64_t>(
      std::count_if(blocked_until_.begin(), blocked_until_.end(),
                    [&](const auto& block) { return block.second > present; }));
  stats.expired += counts_.expired;
  stats.evicted += counts_.evicted;
  stats.evicted_usage += counts_.evicted_usage;
  stats.blocks_evicted += counts_.blocks_evicted;
  stats.table_resizes += table_.resizes();
}

}  // namespace penstock::store
