#pragma once

#include "differential/key_model.hpp"
#include "differential/random.hpp"
#include "oracle/walk.hpp"
#include "reference/manual_store.hpp"

#include <deque>
#include <string>
#include <vector>

namespace penstock::differential {

// Some keys checked against the same quotas while one clock moves. Redis, the core and, while time
// moves forward, the memory store must agree.
class World {
 public:
  World(VirtualRedis& redis, Random& random, std::vector<Quota> quotas, ClockMoves moves);

  // One round: the clock moves, then most keys receive a request. Returns the disagreement, if any.
  [[nodiscard]] std::string round();

  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  enum class Action : std::uint8_t { Check, Refund, Reset, Block, Unblock, Lease };
  // One request for one key.
  struct Question {
    KeyModel* key = nullptr;
    Action action = Action::Check;
    Quota quota = per_second(1);
    Cost cost{};
    Duration duration{};
    std::optional<Result<Decision>> decision{};
    std::optional<Result<std::vector<Decision>>> decisions{};
    std::optional<Result<bool>> flag{};
    std::uint32_t need = 0;  // of leases
    std::uint32_t want = 0;
    std::uint32_t sharers = 1;
    std::optional<Result<store::LeaseGrant>> grant{};
  };

  void move_clock();
  [[nodiscard]] Cost draw_cost(const KeyModel& key, const Quota& quota);
  void draw_checks(KeyModel& key);
  void draw_change(KeyModel& key);
  void draw_lease(KeyModel& key);
  void ask(Question& question);
  // Disagreements of the requests since the last call, in order.
  [[nodiscard]] std::string compare_answers();
  [[nodiscard]] std::string compare_answer(Question& question);
  [[nodiscard]] std::string compare_decision(Question& question);
  [[nodiscard]] std::string compare_flag(Question& question);
  [[nodiscard]] std::string compare_grant(Question& question);
  [[nodiscard]] std::string compare_states();
  // Whether the key stays in Redis much longer than any of the quotas needs.
  [[nodiscard]] bool stays_too_long(const KeyModel& key, const Stored& stored) const;

  VirtualRedis& redis_;
  Random& random_;
  std::vector<Quota> quotas_;
  ClockMoves moves_;
  Instant now_ = VirtualRedis::kDefaultNow;
  std::deque<KeyModel> keys_;
  std::deque<Question> questions_;
  reference::ManualStore memory_;
  std::size_t steps_ = 0;
};

}  // namespace penstock::differential
