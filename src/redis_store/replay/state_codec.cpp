#include "redis_store/replay/state_codec.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::redis_store {
namespace {

constexpr std::uint8_t kFormat = 16;  // version 1 in the upper half, the algorithm in the lower
constexpr char kBlockMark = 1;
constexpr std::size_t kBlockSize = 8;
constexpr std::size_t kExpirySize = 6;
constexpr std::size_t kEscrowSize = 23;
constexpr std::size_t kLogHeadSize = 19;
constexpr std::size_t kLogEntrySize = 11;

std::optional<Quota> quota_of(std::string_view header) {
  PackedReader reader(header);
  const std::uint64_t format = reader.number(1);
  if (format < kFormat || format >= kFormat + core::kAlgorithms.size()) return std::nullopt;
  QuotaSpec spec;
  spec.algorithm = static_cast<Algorithm>(format - kFormat);
  spec.limit = static_cast<std::int64_t>(reader.number(4));
  const auto capacity = static_cast<std::int64_t>(reader.number(4));
  spec.period = std::chrono::milliseconds{static_cast<std::int64_t>(reader.number(5))};
  const auto parts = static_cast<std::int64_t>(reader.number(1));
  if (spec.algorithm == Algorithm::TokenBucket || spec.algorithm == Algorithm::Gcra) {
    spec.capacity = capacity;
  }
  if (spec.algorithm == Algorithm::SubWindows) spec.sub_window_count = parts;
  const Result<Quota> quota = Quota::make(spec);
  if (!quota || view(header_of(*quota)) != header) return std::nullopt;
  return *quota;
}

Instant instant(PackedReader& reader) {
  return Instant{Duration{static_cast<std::int64_t>(reader.number(7))}};
}

std::uint64_t micros(Instant at) {
  return static_cast<std::uint64_t>(at.time_since_epoch().count());
}

std::uint32_t count(PackedReader& reader) { return static_cast<std::uint32_t>(reader.number(4)); }

ExactSpan exact(PackedReader& reader) {
  const auto whole = static_cast<std::int64_t>(reader.number(7));
  return {.whole = whole, .part = count(reader)};
}

std::optional<core::AnyState> read_log(PackedReader& reader) {
  if (reader.left() < kLogHeadSize || (reader.left() - kLogHeadSize) % kLogEntrySize != 0) {
    return std::nullopt;
  }
  core::SlidingLog::State state;
  state.expired = count(reader);
  state.total = count(reader);
  const std::uint32_t entries = count(reader);
  static_cast<void>(reader.number(7));  // newest: the last entry has it as well
  if (reader.left() != entries * kLogEntrySize || state.expired > entries) return std::nullopt;
  state.entries.reserve(entries);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const Instant at = instant(reader);
    state.entries.push_back({.at = at, .weight = count(reader)});
  }
  return state;
}

std::optional<core::AnyState> read_sub_windows(PackedReader& reader, const Quota& quota) {
  const std::size_t counters = quota.sub_window_count() + 1;
  if (reader.left() != 7 + 4 * counters) return std::nullopt;
  core::SubWindows::State state;
  state.newest = static_cast<std::int64_t>(reader.number(7));
  for (std::size_t i = 0; i < counters; ++i) state.counts.push_back(count(reader));
  // future parts without any count are ignored
  const bool counted = std::any_of(state.counts.begin(), state.counts.end(),
                                   [](std::uint32_t each) { return each > 0; });
  if (!counted) state.counts.clear();
  return state;
}

// The fields of each algorithm:
//
//     token_bucket     I7 full_at, I4 its part, I7 last
//     gcra             I7 idle_at, I4 its part
//     fixed windows    I7 end, I4 count
//     sliding_counter  I7 start, I4 current, I4 previous
//     sub_windows      I7 newest, then I4 per part, parts + 1 of them
//     sliding_log      I4 first, I4 total, I4 entries, I7 newest, then per entry I7 at, I4 weight
std::optional<core::AnyState> read_state(std::string_view bytes, const Quota& quota) {
  PackedReader reader(bytes);
  switch (quota.algorithm()) {
    case Algorithm::TokenBucket: {
      if (bytes.size() != 18) return std::nullopt;
      const ExactSpan full_at = exact(reader);
      return core::TokenBucket::State{.full_at = full_at, .last = instant(reader)};
    }
    case Algorithm::Gcra:
      if (bytes.size() != 11) return std::nullopt;
      return core::Gcra::State{.idle_at = exact(reader)};
    case Algorithm::FixedWindow:
    case Algorithm::AnchoredWindow: {
      if (bytes.size() != 11) return std::nullopt;
      const Instant end = instant(reader);
      return core::FixedWindow::State{.end = end, .count = count(reader)};
    }
    case Algorithm::SlidingCounter: {
      if (bytes.size() != 15) return std::nullopt;
      const Instant start = instant(reader);
      const std::uint32_t current = count(reader);
      return core::SlidingCounter::State{
          .start = start, .current = current, .previous = count(reader)};
    }
    case Algorithm::SlidingLog: return read_log(reader);
    case Algorithm::SubWindows: return read_sub_windows(reader, quota);
  }
  return std::nullopt;
}

void write(PackedWriter& writer, std::monostate /*state*/) { static_cast<void>(writer); }

void write(PackedWriter& writer, const core::TokenBucket::State& state) {
  writer.number(static_cast<std::uint64_t>(state.full_at.whole), 7)
      .number(state.full_at.part, 4)
      .number(micros(state.last), 7);
}

void write(PackedWriter& writer, const core::Gcra::State& state) {
  writer.number(static_cast<std::uint64_t>(state.idle_at.whole), 7).number(state.idle_at.part, 4);
}

void write(PackedWriter& writer, const core::FixedWindow::State& state) {
  writer.number(micros(state.end), 7).number(state.count, 4);
}

void write(PackedWriter& writer, const core::SlidingCounter::State& state) {
  writer.number(micros(state.start), 7).number(state.current, 4).number(state.previous, 4);
}

void write(PackedWriter& writer, const core::SubWindows::State& state) {
  writer.number(static_cast<std::uint64_t>(state.newest), 7);
  for (const std::uint32_t each : state.counts) writer.number(each, 4);
}

void write(PackedWriter& writer, const core::SlidingLog::State& state) {
  const std::size_t live = state.entries.size() - state.expired;
  const Instant newest = live == 0 ? Instant{} : state.entries.back().at;
  writer.number(0, 4).number(state.total, 4).number(live, 4).number(micros(newest), 7);
  for (std::size_t i = state.expired; i < state.entries.size(); ++i) {
    writer.number(micros(state.entries[i].at), 7).number(state.entries[i].weight, 4);
  }
}

}  // namespace

StateHeader header_of(const Quota& quota) {
  const std::string bytes =
      PackedWriter()
          .number(kFormat + static_cast<unsigned>(quota.algorithm()), 1)
          .number(quota.limit(), 4)
          .number(quota.capacity(), 4)
          .number(static_cast<std::uint64_t>(quota.period() / std::chrono::milliseconds{1}), 5)
          .number(quota.sub_window_count(), 1)
          .bytes();
  StateHeader header{};
  std::copy_n(bytes.begin(), kHeaderSize, header.begin());
  return header;
}

std::optional<KeyContent> decode(std::string_view bytes, const Quota& expected,
                                 const StateHeader& expected_header) {
  KeyContent content;
  if (bytes.size() >= kBlockSize && bytes.front() == kBlockMark) {
    PackedReader reader(bytes.substr(1));
    content.blocked_until = instant(reader);
    bytes.remove_prefix(kBlockSize);
    if (bytes.empty()) return content;
  }
  if (bytes.size() < kHeaderSize + kExpirySize) return std::nullopt;
  const std::string_view header = bytes.substr(0, kHeaderSize);
  content.quota = header == view(expected_header) ? expected : quota_of(header);
  if (!content.quota) return std::nullopt;
  PackedReader expiry(bytes.substr(kHeaderSize, kExpirySize));
  content.expires_ms = static_cast<std::int64_t>(expiry.number(kExpirySize));
  std::optional<core::AnyState> state =
      read_state(bytes.substr(kHeaderSize + kExpirySize), *content.quota);
  if (!state) return std::nullopt;
  content.state = *std::move(state);
  return content;
}

std::optional<KeyContent> decode(std::string_view bytes) {
  constexpr Quota kAny = per_second(1);
  return decode(bytes, kAny, StateHeader{});
}

std::string encode(const KeyContent& content) {
  PackedWriter writer;
  if (content.blocked_until > Instant{}) {
    writer.number(kBlockMark, 1).number(micros(content.blocked_until), 7);
  }
  if (content.quota) {
    writer.text(view(header_of(*content.quota)))
        .number(static_cast<std::uint64_t>(content.expires_ms), kExpirySize);
    std::visit([&](const auto& state) { write(writer, state); }, content.state);
  }
  return std::move(writer).bytes();
}

std::optional<core::Escrow> decode_escrow(std::string_view bytes) {
  if (bytes.size() != kEscrowSize) return std::nullopt;
  PackedReader reader(bytes);
  if (reader.number(1) != kFormat) return std::nullopt;
  core::Escrow escrow;
  escrow.lifetime = Duration{static_cast<std::int64_t>(reader.number(7))};
  escrow.epoch = static_cast<std::int64_t>(reader.number(7));
  escrow.current = count(reader);
  escrow.previous = count(reader);
  if (escrow.lifetime <= Duration{0}) return std::nullopt;
  return escrow;
}

std::string encode(const core::Escrow& escrow) {
  return PackedWriter()
      .number(kFormat, 1)
      .number(static_cast<std::uint64_t>(escrow.lifetime.count()), 7)
      .number(static_cast<std::uint64_t>(escrow.epoch), 7)
      .number(escrow.current, 4)
      .number(escrow.previous, 4)
      .bytes();
}

}  // namespace penstock::redis_store
