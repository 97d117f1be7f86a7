#pragma once

#include "penstock/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::telemetry {

// Requests of one step of time, or since the start.
struct RequestCounts {
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t shadow_denied = 0;
  std::uint64_t without_store = 0;  // decided while the store was unavailable; also in the above

  friend bool operator==(const RequestCounts&, const RequestCounts&) = default;
};
[[nodiscard]] RequestCounts operator+(const RequestCounts& a, const RequestCounts& b) noexcept;
// 0 where it would be negative: a counter was reset.
[[nodiscard]] RequestCounts operator-(const RequestCounts& a, const RequestCounts& b) noexcept;

// Steps of equal length, oldest first.
struct CountSeries {
  std::chrono::seconds step{1};
  Instant from{};  // where the first step begins
  std::vector<RequestCounts> steps{};

  [[nodiscard]] Instant end() const { return from + steps.size() * step; }
};

// Adds the steps of `other` at their times; steps outside of `sum` are ignored.
// REQUIRES: the steps are equally long.
void add_series(CountSeries& sum, const CountSeries& other);
// Only the steps that end after this time.
[[nodiscard]] CountSeries steps_after(const CountSeries& series, Instant since);

enum class MarkKind : std::uint8_t { Start, Reload, ReloadFailed, Outage, Recovery, RolloutAbort };
inline constexpr std::array<std::string_view, 6> kMarkKinds{"start",  "reload",   "reload_failed",
                                                            "outage", "recovery", "rollout_abort"};
[[nodiscard]] std::string_view to_string(MarkKind kind) noexcept;

// Something that happened, to be shown on the time axis.
struct Mark {
  Instant at{};
  MarkKind kind = MarkKind::Start;
  std::string text{};
  std::string node{};  // empty: this one
};

// The last five minutes at one second, the last hour at ten seconds, and what happened meanwhile.
// It is fed once a second from counters that exist anyway: requests do not know of it.
//
// Thread-safety: none.
class History {
 public:
  static constexpr std::size_t kSeconds = 300;
  static constexpr std::size_t kTens = 360;
  static constexpr std::size_t kMaxMarks = 100;
  static constexpr std::size_t kMaxMarkBytes = 300;
  // All that it ever holds, in bytes.
  static constexpr std::size_t kMaxBytes =
      (kSeconds + kTens) * sizeof(RequestCounts) + kMaxMarks * (sizeof(Mark) + kMaxMarkBytes);

  enum class Span : std::uint8_t { FiveMinutes, Hour };

  // The counts since the start at this time: call it soon after a second has ended, to which the
  // difference to the last call is added.
  void sample(Instant now, const RequestCounts& totals);
  void mark(Instant at, MarkKind kind, std::string_view text);

  // Complete steps; never more than of the span.
  [[nodiscard]] CountSeries series(Span span) const;
  [[nodiscard]] const std::deque<Mark>& marks() const noexcept { return marks_; }
  // Of the last complete second.
  [[nodiscard]] RequestCounts last_second() const;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  // The steps of one length. A step is found by its number since 1970.
  template <std::size_t kSize>
  struct Ring {
    std::array<RequestCounts, kSize> steps{};
    std::int64_t newest = -1;  // -1: none
    std::size_t used = 0;

    void add(std::int64_t number, const RequestCounts& counts);
    [[nodiscard]] CountSeries series(std::chrono::seconds step, std::int64_t end) const;
  };

  RequestCounts totals_{};
  bool is_first_ = true;
  Ring<kSeconds> seconds_;
  Ring<kTens> tens_;
  std::deque<Mark> marks_;  // oldest first
};

}  // namespace penstock::telemetry
