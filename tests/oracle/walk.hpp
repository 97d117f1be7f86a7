#pragma once

#include "oracle/model.hpp"

#include <cstdint>

namespace penstock::oracle {

// How the clock moves before a request, relative to the last answer. Ordered from simple to odd, so
// that a failing history shrinks to the simplest one.
enum class Jump : std::uint8_t {
  Stay,
  Tick,
  PartOfToken,
  JustBeforeRetry,
  AtRetry,
  JustAfterRetry,
  JustBeforeReset,
  AtReset,
  JustBeforeBoundary,  // of the next window or sub-window
  AtBoundary,
  JustAfterBoundary,
  PartOfPeriod,
  AboutOnePeriod,
  PartOfRefill,
  LongIdle,
  // From here on the clock steps back.
  BackOneTick,
  BackPartOfPeriod,
  BackPartOfRefill,
  BackAboutTolerance,
  BackFar,
};
inline constexpr std::uint8_t kForwardJumps = static_cast<std::uint8_t>(Jump::BackOneTick);
inline constexpr std::uint8_t kJumps = static_cast<std::uint8_t>(Jump::BackFar) + 1;

// The cost of a request, relative to the last answer.
enum class Ask : std::uint8_t {
  One,
  Nothing,
  Two,
  Remaining,
  OneMoreThanRemaining,
  Everything,
  OneMoreThanEverything,
  SomePart,
  Half,
  Absurd,
};
inline constexpr std::uint8_t kAsks = static_cast<std::uint8_t>(Ask::Absurd) + 1;

enum class Action : std::uint8_t { Check, Refund };

struct Step {
  Jump jump = Jump::Stay;
  Ask ask = Ask::One;
  Action action = Action::Check;
  std::uint64_t draw = 0;  // randomness for jump and cost
};

struct Move {
  Action action = Action::Check;
  Cost cost;
  Instant now;
};

// Turns steps into critical times and costs: at boundaries, one microsecond off, and at times the
// limiter promised.
class Walk {
 public:
  // Like a machine's clock today.
  static constexpr Instant kDefaultStart{Duration{1'700'000'000'123'457}};
  // A step beyond this restarts, which is itself a clock step. All sums of a limiter stay below
  // 2^53 up to here.
  static constexpr Instant kDefaultEnd{Duration{4'000'000'000'000'000}};

  explicit Walk(const Quota& quota, Instant start = kDefaultStart, Instant end = kDefaultEnd);

  [[nodiscard]] Move next(const Step& step);
  void observe(const Answer& answer) { last_ = answer; }
  [[nodiscard]] Instant now() const { return now_; }

 private:
  [[nodiscard]] Duration length(const Step& step) const;
  [[nodiscard]] Duration until_boundary() const;
  [[nodiscard]] Duration tolerance(std::uint64_t draw) const;
  [[nodiscard]] Cost cost(const Step& step) const;

  Duration period_;
  Duration slot_;    // aligned to the epoch: the period, or a part of it
  Duration token_;   // at least the time one token takes
  Duration refill_;  // at least the time all of them take
  std::uint64_t capacity_;
  Instant start_;
  Instant end_;
  Instant now_;
  Answer last_;
};

}  // namespace penstock::oracle
