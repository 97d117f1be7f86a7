#pragma once

#include "differential/virtual_redis.hpp"
#include "redis_store/replay/key_replay.hpp"

#include <string>
#include <vector>

namespace penstock::differential {

// One key as the C++ core sees it, which forgets nothing, and all that happened to it.
struct KeyModel {
  std::string name;
  redis_store::KeyReplay replay{};
  Decision last = Decision::allow(1, 1, Duration{0});
  Quota last_quota = per_second(1);
  std::vector<std::string> history{};

  void note(Instant now, const std::string& what);
  // What happened, the latest last.
  [[nodiscard]] std::string story() const;
};

[[nodiscard]] std::string describe(const Result<Decision>& decision);
[[nodiscard]] std::string describe(const redis_store::KeyContent& content);

enum class ClockMoves : std::uint8_t { Forward, Anyhow };

// What is wrong with what Redis holds for this key, if its clock shows `now`; empty when nothing
// is. It must be what the model has, or nothing where the model's state says nothing any more; and
// it must last at least as long as it says something.
[[nodiscard]] std::string disagreement(const KeyModel& model, const Stored& stored, Instant now,
                                       ClockMoves moves);

// From now on the model knows no more than Redis does. REQUIRES: they do not disagree.
void forget_what_redis_forgot(KeyModel& model, const Stored& stored);

}  // namespace penstock::differential
