#pragma once

#include "core/any_state.hpp"

namespace penstock::core {

// A key in a test: its quota, its state, and a clock that stands wherever the test moves it.
class TestKey {
 public:
  // The start of a second, a minute and a window of ten minutes.
  static constexpr Instant kStart{std::chrono::seconds{1'700'000'400}};

  explicit TestKey(const Quota& quota) : quota_(quota) {}

  Decision take(std::uint64_t cost = 1) { return decide(state_, quota_, Cost{cost}, now_); }
  [[nodiscard]] Decision would_take(std::uint64_t cost) const {
    return evaluate(state_, quota_, Cost{cost}, now_);
  }
  [[nodiscard]] std::uint32_t remaining() const { return would_take(0).remaining(); }
  [[nodiscard]] Duration reset_after() const { return would_take(0).reset_after(); }
  void refund(std::uint64_t cost) { core::refund(state_, quota_, Cost{cost}, now_); }

  void wait(Duration duration) { now_ += duration; }
  void step_clock_back(Duration duration) { now_ -= duration; }
  void change_quota(const Quota& quota) {
    state_ = carry_over(state_, quota_, quota, now_);
    quota_ = quota;
  }
  void forget_if_expired() {
    if (now_ >= expires_at(state_, quota_)) state_ = AnyState{};
  }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const AnyState& state() const { return state_; }
  [[nodiscard]] const Quota& quota() const { return quota_; }

 private:
  Quota quota_;
  AnyState state_;
  Instant now_ = kStart;
};

}  // namespace penstock::core
