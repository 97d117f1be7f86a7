#include "store/slot_codec.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace penstock::store {
namespace {

using std::chrono::milliseconds;

constexpr auto kMaxCount = static_cast<std::uint32_t>(Quota::kMaxLimit);
constexpr std::uint32_t kLastId = (1U << QuotaTable::kIdBits) - 1;
constexpr std::int64_t kLatestMicros = std::numeric_limits<std::int64_t>::max();

// Every state is saved under each of these numbers, which saving must not touch.
constexpr std::array<std::uint32_t, 4> kIds{0, 1, 0x2a'aaaa, kLastId};

template <class Algorithm>
void expect_round_trip(const typename Algorithm::State& state) {
  for (const std::uint32_t id : kIds) {
    Slot slot{.hash = {.high = ~0U, .low = 1}};
    set_quota_id(slot, id);
    SlotCodec<Algorithm>::save(slot, state);
    EXPECT_EQ(SlotCodec<Algorithm>::load(slot), state);
    EXPECT_EQ(quota_id(slot), id);
    EXPECT_EQ(slot.hash, (Hash128{.high = ~0U, .low = 1}));
    // over what was there before
    SlotCodec<Algorithm>::save(slot, {});
    EXPECT_EQ(SlotCodec<Algorithm>::load(slot), typename Algorithm::State{});
    SlotCodec<Algorithm>::save(slot, state);
    EXPECT_EQ(SlotCodec<Algorithm>::load(slot), state);
  }
}

const std::vector<ExactSpan>& extreme_spans() {
  static const std::vector<ExactSpan> spans = [] {
    std::vector<ExactSpan> all;
    for (const std::int64_t whole :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'700'000'000'123'457}, kLatestMicros}) {
      for (const std::uint32_t part : {0U, 1U, kMaxCount - 2, kMaxCount - 1}) {
        all.push_back({.whole = whole, .part = part});
      }
    }
    return all;
  }();
  return spans;
}

TEST(SlotCodec, KeepsATokenBucketWithoutItsLastUpdate) {
  for (const ExactSpan& full_at : extreme_spans()) {
    expect_round_trip<core::TokenBucket>({.full_at = full_at, .last = Instant{}});
  }
  Slot slot;
  SlotCodec<core::TokenBucket>::save(
      slot, {.full_at = {.whole = 9, .part = 8}, .last = Instant{Duration{7}}});
  EXPECT_EQ(SlotCodec<core::TokenBucket>::load(slot).last, Instant{});
}

TEST(SlotCodec, KeepsAGcraState) {
  for (const ExactSpan& idle_at : extreme_spans())
    expect_round_trip<core::Gcra>({.idle_at = idle_at});
}

TEST(SlotCodec, KeepsAFixedWindow) {
  for (const std::int64_t end :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'700'000'000'000'000}, kLatestMicros}) {
    for (const std::uint32_t count : {0U, 1U, kMaxCount - 1, kMaxCount}) {
      expect_round_trip<core::FixedWindow>({.end = Instant{Duration{end}}, .count = count});
    }
  }
}

TEST(SlotCodec, KeepsASlidingCounter) {
  // 46 bits of milliseconds: the year 4199
  constexpr std::int64_t kLastMillis = (std::int64_t{1} << 46U) - 1;
  for (const std::int64_t start :
       {std::int64_t{0}, std::int64_t{1}, (std::int64_t{1} << 34U) - 1, std::int64_t{1} << 34U,
        std::int64_t{1'700'000'000'123}, kLastMillis - 1, kLastMillis}) {
    for (const std::uint32_t current : {0U, 1U, kMaxCount}) {
      for (const std::uint32_t previous : {0U, 1U, kMaxCount}) {
        expect_round_trip<core::SlidingCounter>(
            {.start = Instant{milliseconds{start}}, .current = current, .previous = previous});
      }
    }
  }
}

TEST(SlotCodec, ChangesTheQuotaNumberAlone) {
  Slot slot;
  const core::FixedWindow::State state{.end = Instant{Duration{123}}, .count = kMaxCount};
  SlotCodec<core::FixedWindow>::save(slot, state);
  for (const std::uint32_t id : kIds) {
    set_quota_id(slot, id);
    EXPECT_EQ(quota_id(slot), id);
    EXPECT_EQ(SlotCodec<core::FixedWindow>::load(slot), state);
  }
}

TEST(SlotCodec, KeepsTheAddressAndTheIndexOfAStateOnTheHeap) {
  using Codec = HeapCodec<core::SlidingLog>;
  const auto log = std::make_unique<core::SlidingLog::State>();
  Slot slot;
  set_quota_id(slot, kLastId);
  EXPECT_EQ(Codec::get(slot), nullptr);
  for (const std::uint32_t log_index : {0U, 1U, (1U << 30U) - 1}) {
    Codec::put(slot, log.get(), log_index);
    EXPECT_EQ(Codec::get(slot), log.get());
    EXPECT_EQ(Codec::log_index(slot), log_index);
    set_log_index(slot, 7);
    EXPECT_EQ(Codec::get(slot), log.get());
    EXPECT_EQ(Codec::log_index(slot), 7U);
    EXPECT_EQ(quota_id(slot), kLastId);
  }
  Codec::put(slot, nullptr, 0);
  EXPECT_EQ(Codec::get(slot), nullptr);
  EXPECT_EQ(quota_id(slot), kLastId);
}

TEST(SlotCodec, CountsWhatAStateHasReserved) {
  core::SlidingLog::State log;
  const std::size_t empty = heap_bytes(log);
  log.entries.reserve(100);
  EXPECT_GE(heap_bytes(log), empty + 100 * sizeof(core::SlidingLog::Entry));
  core::SubWindows::State parts;
  parts.counts.resize(21);
  EXPECT_GE(heap_bytes(parts), sizeof(parts) + 21 * sizeof(std::uint32_t));
}

}  // namespace
}  // namespace penstock::store
