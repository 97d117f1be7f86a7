#pragma once

#include "core/any_state.hpp"

namespace penstock::core {

// A key in a test: its quota, its state, and a clock that stands wherever the test moves it.
class TestKey {
 public:
  // The start of a second, a minute and a window of ten minutes.
  static constexpr Instant kStart{std::chrono::seconds{1'700'000'400}};

  explicit TestKey(const Quota& quota) : quota_(quota), owner_(quota) {}

  Decision take(std::uint64_t cost = 1) {
    return decide_under(state_, owner_, quota_, Cost{cost}, now_);
  }
  [[nodiscard]] Decision would_take(std::uint64_t cost) const {
    return evaluate_under(state_, owner_, quota_, Cost{cost}, now_);
  }
  [[nodiscard]] std::uint32_t remaining() const { return would_take(0).remaining(); }
  [[nodiscard]] Duration reset_after() const { return would_take(0).reset_after(); }
  void refund(std::uint64_t cost) { core::refund(state_, owner_, Cost{cost}, now_); }

  void wait(Duration duration) { now_ += duration; }
  void step_clock_back(Duration duration) { now_ -= duration; }
  // Later requests use this quota.
  void change_quota(const Quota& quota) { quota_ = quota; }
  void forget_if_expired() {
    if (now_ >= expires_at(state_, owner_)) state_ = AnyState{};
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const AnyState& state() const { return state_; }
  [[nodiscard]] const Quota& quota() const { return quota_; }
  // The one that usage drains under.
  [[nodiscard]] const Quota& owner() const { return owner_; }

 private:
  Quota quota_;
  Quota owner_;
  AnyState state_;
  Instant now_ = kStart;
};

}  // namespace penstock::core
