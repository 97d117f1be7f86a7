#pragma once

#include "penstock/clock.hpp"
#include "store/memory_store.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::wire::resp {

// A test store with real state in virtual time that can fail or defer its answers.
class LateStore final : public store::LimitStore, public store::CounterStore {
 public:
  [[nodiscard]] store::Stores stores() noexcept {
    return {.limits = *this,
            .counters = *this,
            .permits = real_,
            .reservations = real_,
            .operators = real_};
  }

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             store::Answered<store::Decisions> answered) override {
    ask(std::move(answered), [=, this](auto reply) { real_.check(checks, deadline, reply); });
  }
  void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
              store::Answered<store::Decisions> answered) override {
    ask(std::move(answered), [=, this](auto reply) { real_.refund(checks, deadline, reply); });
  }
  void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
             store::Answered<bool> answered) override {
    ask(std::move(answered), [=, this](auto reply) { real_.reset(names, deadline, reply); });
  }
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
             store::Answered<bool> answered) override {
    ask(std::move(answered),
        [=, this](auto reply) { real_.block(names, duration, deadline, reply); });
  }
  void add(store::CounterKind kind, std::string name, std::int64_t delta,
           std::optional<Duration> lifetime, base::Deadline deadline,
           store::Answered<std::int64_t> answered) override {
    ask(std::move(answered),
        [=, this](auto reply) { real_.add(kind, name, delta, lifetime, deadline, reply); });
  }
  void get(store::CounterKind kind, std::string name, base::Deadline deadline,
           store::Answered<std::int64_t> answered) override {
    ask(std::move(answered), [=, this](auto reply) { real_.get(kind, name, deadline, reply); });
  }
  void remove(std::string name, base::Deadline deadline, store::Answered<bool> answered) override {
    ask(std::move(answered), [=, this](auto reply) { real_.remove(name, deadline, reply); });
  }
  void read_counter(std::string name, base::Deadline deadline,
                    store::Answered<store::CounterValues> answered) override {
    ask(std::move(answered), [=, this](auto reply) { real_.read_counter(name, deadline, reply); });
  }
  void expire(std::string name, Duration lifetime, store::ExpireCondition condition,
              base::Deadline deadline, store::Answered<bool> answered) override {
    ask(std::move(answered),
        [=, this](auto reply) { real_.expire(name, lifetime, condition, deadline, reply); });
  }
  [[nodiscard]] std::optional<Decision> try_check(std::string_view subject, const Quota& quota,
                                                  Cost cost) override {
    if (is_late || failure) return std::nullopt;
    return real_.try_check(subject, quota, cost);
  }

  // Answers the pending call at this index.
  void answer(std::size_t place) {
    const auto next = std::move(late_[place]);
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(place));
    next();
  }
  [[nodiscard]] std::size_t waiting() const { return late_.size(); }

  ManualClock clock{};
  store::ShardedTable memory{{.clock = &clock}};
  bool is_late = false;
  std::optional<Error> failure{};

 private:
  template <class T, class Perform>
  void ask(store::Answered<T> answered, Perform perform) {
    auto act = [this, answered = std::move(answered), perform = std::move(perform)] {
      if (failure) return answered(*failure);
      perform(answered);
    };
    if (!is_late) return act();
    late_.push_back(std::move(act));
  }

  store::MemoryStore real_{memory};
  std::vector<std::function<void()>> late_;
};

}  // namespace penstock::wire::resp
