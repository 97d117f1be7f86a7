#pragma once

#include "penstock/clock.hpp"
#include "store/memory_store.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace penstock::service {

// A test store with real state in virtual time that can fail or defer answers, and records its
// calls.
class TestStore final : public store::LimitStore {
 public:
  [[nodiscard]] store::Stores stores() noexcept {
    return {.limits = *this,
            .counters = counts_,
            .permits = counts_,
            .reservations = book_,
            .operators = counts_};
  }

  struct Call {
    std::string what;  // "check" or "refund"
    std::vector<core::NamedCheck> checks;
    base::Deadline deadline;
  };

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             store::Answered<store::Decisions> answered) override {
    ask("check", std::move(checks), deadline, std::move(answered));
  }
  [[nodiscard]] bool try_check(std::span<const core::NamedCheck* const> checks,
                               std::span<Decision> decisions) override {
    if (!answers_inline || inline_calls == 0) return false;
    --inline_calls;
    calls.push_back({"check", {}, {}});
    for (const core::NamedCheck* check : checks) calls.back().checks.push_back(*check);
    return counts_.try_check(checks, decisions);
  }
  void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
              store::Answered<store::Decisions> answered) override {
    ask("refund", std::move(checks), deadline, std::move(answered));
  }
  void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
             store::Answered<bool> answered) override {
    counts_.reset(std::move(names), deadline, std::move(answered));
  }
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
             store::Answered<bool> answered) override {
    counts_.block(std::move(names), duration, deadline, std::move(answered));
  }
  // What a look at this count says.
  [[nodiscard]] std::uint32_t remaining(const core::LimitKey& name, const Quota& quota) {
    return memory_.check({.name = name, .quota = quota, .cost = Cost{0}}).remaining();
  }
  // Charges the limit like another client.
  void take(const core::LimitKey& name, const Quota& quota, std::uint64_t units) {
    static_cast<void>(memory_.check({.name = name, .quota = quota, .cost = Cost{units}}));
  }
  void advance(Duration by) { clock_.advance(by); }
  void block_now(const core::LimitKey& name) { memory_.block(name, std::chrono::hours{1}); }

  [[nodiscard]] std::size_t waiting() const noexcept { return late_.size(); }
  // Answers pending calls in order, including new ones made meanwhile.
  void answer_late() {
    while (!late_.empty()) answer_one();
  }
  void answer_one() {
    auto next = std::move(late_.front());
    late_.pop_front();
    next();
  }

  std::optional<Error> failure{};                       // of every call
  std::function<bool(const std::string&)> fails_for{};  // or of those about this limit
  bool is_late = false;
  bool answers_inline = false;  // as the memory store does
  int inline_calls = -1;        // at most this number of calls inline; -1: all
  std::vector<Call> calls{};
  // Reservation steps: how many succeed before some fail, how many fail, with which error, and
  // whether the failing ones are executed anyway.
  int steps_until_failure = -1;
  int steps_to_fail = 1;
  std::optional<Error> step_failure{};
  bool failed_step_is_done = false;
  bool steps_are_late = false;
  std::vector<base::Deadline> step_deadlines{};

 private:
  class Book final : public store::ReservationStore {
   public:
    explicit Book(TestStore& store) : store_(store) {}

    void ask(store::ReservationRequest ask, base::Deadline deadline,
             store::Answered<store::ReservationAnswer> answered) override {
      store_.step_deadlines.push_back(deadline);
      if (!store_.steps_are_late) return answer(std::move(ask), deadline, std::move(answered));
      store_.late_.emplace_back(
          [this, ask = std::move(ask), deadline, answered = std::move(answered)]() mutable {
            answer(std::move(ask), deadline, std::move(answered));
          });
    }
    void due(std::size_t most, base::Deadline deadline,
             store::Answered<std::vector<std::string>> answered) override {
      real().due(most, deadline, std::move(answered));
    }

   private:
    void answer(store::ReservationRequest ask, base::Deadline deadline,
                store::Answered<store::ReservationAnswer> answered) {
      const bool fails = store_.failure || store_.steps_until_failure == 0;
      if (store_.steps_until_failure > 0) {
        --store_.steps_until_failure;
      } else if (store_.steps_until_failure == 0 && --store_.steps_to_fail == 0) {
        store_.steps_until_failure = -1;
        store_.steps_to_fail = 1;
      }
      if (!fails) return real().ask(std::move(ask), deadline, std::move(answered));
      if (store_.failed_step_is_done) {
        real().ask(std::move(ask), deadline, [](const auto&) {});
        return answered(Error{ErrorCode::Timeout, "no answer in time"});
      }
      const Error usual = store_.failure.value_or(Error{ErrorCode::Unavailable, "down"});
      answered(store_.step_failure.value_or(usual));
    }
    store::ReservationStore& real() { return store_.counts_; }
    TestStore& store_;
  };

  void ask(const std::string& what, std::vector<core::NamedCheck> checks, base::Deadline deadline,
           store::Answered<store::Decisions> answered) {
    calls.push_back({what, checks, deadline});
    auto answer = [this, what, checks = std::move(checks), deadline,
                   answered = std::move(answered)] {
      if (failure) return answered(*failure);
      for (const core::NamedCheck& check : checks) {
        if (fails_for && fails_for(check.name.limit)) {
          return answered(Error{ErrorCode::Unavailable, "no answer for " + check.name.limit});
        }
      }
      if (what == "check") return counts_.check(checks, deadline, answered);
      counts_.refund(checks, deadline, answered);
    };
    if (is_late) {
      late_.push_back(std::move(answer));
    } else {
      answer();
    }
  }

  ManualClock clock_;
  store::ShardedTable memory_{{.clock = &clock_}};
  store::MemoryStore counts_{memory_};
  std::deque<std::function<void()>> late_;
  Book book_{*this};
};

}  // namespace penstock::service
