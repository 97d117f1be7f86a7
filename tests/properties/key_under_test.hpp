#pragma once

#include "core/any_state.hpp"
#include "oracle/model.hpp"
#include "oracle/walk.hpp"

#include <string>

namespace penstock::properties {

// One key of the library with the interface of oracle::Model, and a record of its requests.
class KeyUnderTest {
 public:
  explicit KeyUnderTest(const Quota& quota) : quota_(quota), owner_(quota) {}

  oracle::Answer check(Cost cost, Instant now) {
    const oracle::Answer answer =
        oracle::answer_of(core::decide_under(state_, owner_, quota_, cost, now));
    note("check", cost, now, " -> " + to_string(answer));
    return answer;
  }

  [[nodiscard]] oracle::Answer peek(Cost cost, Instant now) const {
    return oracle::answer_of(core::evaluate_under(state_, owner_, quota_, cost, now));
  }

  void refund(Cost cost, Instant now) {
    core::refund(state_, owner_, cost, now);
    note("refund", cost, now, "");
  }

  // Performs the step; returns a peek after a refund.
  oracle::Answer follow(oracle::Walk& walk, const oracle::Step& step) {
    const oracle::Move move = walk.next(step);
    if (move.action == oracle::Action::Refund) refund(move.cost, move.now);
    const oracle::Answer answer = move.action == oracle::Action::Refund
                                      ? peek(Cost{1}, move.now)
                                      : check(move.cost, move.now);
    walk.observe(answer);
    return answer;
  }

  void forget() { state_ = core::AnyState{}; }
  // Later requests use this quota.
  void change_quota(const Quota& quota) { quota_ = quota; }

  [[nodiscard]] const Quota& quota() const { return quota_; }
  // The quota that usage drains under.
  [[nodiscard]] const Quota& owner() const { return owner_; }
  [[nodiscard]] const core::AnyState& state() const { return state_; }
  [[nodiscard]] Instant expires_at() const { return core::expires_at(state_, owner_); }
  [[nodiscard]] std::uint32_t used(Instant now) const { return core::used(state_, owner_, now); }

  // The history in the notation of tests/vectors.
  [[nodiscard]] const std::string& record() const { return record_; }

 private:
  void note(const char* what, Cost cost, Instant now, const std::string& answer) {
    record_ += std::string(what) + " " + std::to_string(now.time_since_epoch().count()) + " " +
               std::to_string(cost.units) + answer + "\n";
  }

  Quota quota_;
  Quota owner_;
  core::AnyState state_;
  std::string record_;
};

}  // namespace penstock::properties
