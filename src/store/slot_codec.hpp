#pragma once

#include "core/any_state.hpp"
#include "store/quota_table.hpp"
#include "store/slot_table.hpp"

#include <type_traits>

// How a key's state lies in the two words of its slot.
//
//     word0: bits 0 to 21 the number of the quota, 22 to 51 `small`, 52 to 63 `top`
//
//                      small            top          word1
//     token bucket     part of full_at  -            full_at in whole microseconds
//     GCRA             part of idle_at  -            idle_at in whole microseconds
//     fixed windows    count            -            end of the window in microseconds
//     sliding counter  current count    start >> 34  previous count, above it the start in ms
//     log, sub-windows place in logs_   -            address of the state on the heap
//
// The token bucket's `last` is not kept: Shard never lets time run backwards, and then a bucket is
// the same whenever it was last looked at.
namespace penstock::store {

inline constexpr unsigned kSmallBits = 30;
inline constexpr unsigned kSmallShift = QuotaTable::kIdBits;
inline constexpr unsigned kTopShift = kSmallShift + kSmallBits;
inline constexpr std::uint64_t kSmallMask = (std::uint64_t{1} << kSmallBits) - 1;
inline constexpr std::uint64_t kIdMask = (std::uint64_t{1} << QuotaTable::kIdBits) - 1;
static_assert(Quota::kMaxLimit <= std::int64_t{kSmallMask}, "a count fits 30 bits");

[[nodiscard]] inline std::uint32_t quota_id(const Slot& slot) noexcept {
  return static_cast<std::uint32_t>(slot.word0 & kIdMask);
}
inline void set_quota_id(Slot& slot, std::uint32_t id) noexcept {
  slot.word0 = (slot.word0 & ~kIdMask) | id;
}

template <class Algorithm>
struct SlotCodec;

namespace slot_words {

[[nodiscard]] inline std::uint32_t small(const Slot& slot) noexcept {
  return static_cast<std::uint32_t>((slot.word0 >> kSmallShift) & kSmallMask);
}
inline void set(Slot& slot, std::uint32_t small, std::uint64_t top, std::uint64_t word1) noexcept {
  slot.word0 = (slot.word0 & kIdMask) | (std::uint64_t{small} << kSmallShift) | (top << kTopShift);
  slot.word1 = word1;
}
inline void set_exact(Slot& slot, const ExactSpan& span) noexcept {
  set(slot, span.part, 0, static_cast<std::uint64_t>(span.whole));
}
[[nodiscard]] inline ExactSpan exact(const Slot& slot) noexcept {
  return {.whole = static_cast<std::int64_t>(slot.word1), .part = small(slot)};
}

}  // namespace slot_words

template <>
struct SlotCodec<core::TokenBucket> {
  // Only a clock that steps back, or a change of quota, leaves a bucket unsettled; neither gets
  // here.
  static constexpr bool kStaysSettled = true;

  [[nodiscard]] static core::TokenBucket::State load(const Slot& slot) noexcept {
    return {.full_at = slot_words::exact(slot), .last = Instant{}};
  }
  static void save(Slot& slot, const core::TokenBucket::State& state) noexcept {
    slot_words::set_exact(slot, state.full_at);
  }
};

template <>
struct SlotCodec<core::Gcra> {
  static constexpr bool kStaysSettled = true;

  [[nodiscard]] static core::Gcra::State load(const Slot& slot) noexcept {
    return {.idle_at = slot_words::exact(slot)};
  }
  static void save(Slot& slot, const core::Gcra::State& state) noexcept {
    slot_words::set_exact(slot, state.idle_at);
  }
};

template <>
struct SlotCodec<core::FixedWindow> {
  static constexpr bool kStaysSettled = false;

  [[nodiscard]] static core::FixedWindow::State load(const Slot& slot) noexcept {
    return {.end = Instant{Duration{static_cast<std::int64_t>(slot.word1)}},
            .count = slot_words::small(slot)};
  }
  static void save(Slot& slot, const core::FixedWindow::State& state) noexcept {
    slot_words::set(slot, state.count, 0,
                    static_cast<std::uint64_t>(state.end.time_since_epoch().count()));
  }
};

template <>
struct SlotCodec<core::SlidingCounter> {
  static constexpr bool kStaysSettled = false;
  static constexpr unsigned kLowStartBits = 64 - kSmallBits;

  [[nodiscard]] static core::SlidingCounter::State load(const Slot& slot) noexcept {
    const std::uint64_t start_ms =
        ((slot.word0 >> kTopShift) << kLowStartBits) | (slot.word1 >> kSmallBits);
    return {.start = Instant{std::chrono::milliseconds{static_cast<std::int64_t>(start_ms)}},
            .current = slot_words::small(slot),
            .previous = static_cast<std::uint32_t>(slot.word1 & kSmallMask)};
  }
  static void save(Slot& slot, const core::SlidingCounter::State& state) noexcept {
    const auto start_ms = static_cast<std::uint64_t>(state.start.time_since_epoch().count() / 1000);
    slot_words::set(slot, state.current, start_ms >> kLowStartBits,
                    (start_ms << kSmallBits) | state.previous);
  }
};

// States that outgrow a slot. The slot owns what word1 points to, if anything.
template <class Algorithm>
struct HeapCodec {
  using State = typename Algorithm::State;

  [[nodiscard]] static State* get(const Slot& slot) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a slot has room for bits, not for a type
    return reinterpret_cast<State*>(static_cast<std::uintptr_t>(slot.word1));
  }
  static void put(Slot& slot, State* state, std::uint32_t log_index) noexcept {
    slot_words::set(slot, log_index, 0, reinterpret_cast<std::uintptr_t>(state));
  }
  [[nodiscard]] static std::uint32_t log_index(const Slot& slot) noexcept {
    return slot_words::small(slot);
  }
};
inline void set_log_index(Slot& slot, std::uint32_t log_index) noexcept {
  slot_words::set(slot, log_index, 0, slot.word1);
}

// Whether a state has memory of its own.
template <class Algorithm>
inline constexpr bool kOnHeap = !std::is_trivially_copyable_v<typename Algorithm::State>;

[[nodiscard]] inline std::size_t heap_bytes(const core::SlidingLog::State& state) noexcept {
  return sizeof(state) + state.entries.capacity() * sizeof(core::SlidingLog::Entry);
}
[[nodiscard]] inline std::size_t heap_bytes(const core::SubWindows::State& state) noexcept {
  return sizeof(state) + state.counts.capacity() * sizeof(std::uint32_t);
}

}  // namespace penstock::store
