#pragma once

#include "differential/virtual_redis.hpp"
#include "redis_store/replay/key_replay.hpp"

#include <string>
#include <vector>

namespace penstock::differential {

// One key as the C++ core sees it, without expiry, and its history.
struct KeyModel {
  std::string name;
  redis_store::KeyReplay replay{};
  Decision last = Decision::allow(1, 1, Duration{0});
  Quota last_quota = per_second(1);
  std::vector<std::string> history{};

  void note(Instant now, const std::string& what);
  // The history, latest event last.
  [[nodiscard]] std::string story() const;
};

[[nodiscard]] std::string describe(const Result<Decision>& decision);
[[nodiscard]] std::string describe(const redis_store::KeyContent& content);

enum class ClockMoves : std::uint8_t { Forward, Anyhow };

// Compares what Redis stores for this key at `now` with the model; empty when they agree. It must
// equal the model, or be absent if the model's state is irrelevant by then; and it must not expire
// while the state matters.
[[nodiscard]] std::string disagreement(const KeyModel& model, const Stored& stored, Instant now,
                                       ClockMoves moves);

// Removes from the model what Redis has expired. REQUIRES: they do not disagree.
void forget_what_redis_forgot(KeyModel& model, const Stored& stored);

}  // namespace penstock::differential
