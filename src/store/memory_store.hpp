#pragma once

#include "store/sharded_table.hpp"
#include "store/stores.hpp"

#include <string>
#include <vector>

namespace penstock::store {

// All roles of a store, in the memory of this process. Answers before the call returns, so that
// deadlines never matter.
//
// Thread-safety: none; many of these may share one ShardedTable.
class MemoryStore final : public LimitStore,
                          public CounterStore,
                          public PermitStore,
                          public ReservationStore,
                          public OperatorStore {
 public:
  // REQUIRES: `memory` outlives the store.
  explicit MemoryStore(ShardedTable& memory) noexcept : memory_(memory) {}

  [[nodiscard]] Stores stores() noexcept {
    return {.limits = *this,
            .counters = *this,
            .permits = *this,
            .reservations = *this,
            .operators = *this};
  }

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             Answered<Decisions> answered) override;
  [[nodiscard]] bool try_check(std::span<const core::NamedCheck* const> checks,
                               std::span<Decision> decisions) override;
  [[nodiscard]] std::optional<Decision> try_check(std::string_view subject, const Quota& quota,
                                                  Cost cost) override {
    return memory_.check(subject, quota, cost);
  }
  void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
              Answered<Decisions> answered) override;
  void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
             Answered<bool> answered) override;
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
             Answered<bool> answered) override;

  void add(CounterKind kind, std::string name, std::int64_t delta, std::optional<Duration> lifetime,
           base::Deadline deadline, Answered<std::int64_t> answered) override;
  void get(CounterKind kind, std::string name, base::Deadline deadline,
           Answered<std::int64_t> answered) override;
  void read_counter(std::string name, base::Deadline deadline,
                    Answered<CounterValues> answered) override;
  void remove(std::string name, base::Deadline deadline, Answered<bool> answered) override;
  void expire(std::string name, Duration lifetime, ExpireCondition condition,
              base::Deadline deadline, Answered<bool> answered) override;

  void acquire(PermitName permit, std::uint32_t limit, Duration lasts, base::Deadline deadline,
               Answered<core::PermitResult> answered) override;
  void renew(PermitName permit, Duration lasts, base::Deadline deadline,
             Answered<core::PermitResult> answered) override;
  void release(PermitName permit, base::Deadline deadline, Answered<bool> answered) override;

  void ask(ReservationRequest ask, base::Deadline deadline,
           Answered<ReservationAnswer> answered) override;
  void due(std::size_t most, base::Deadline deadline,
           Answered<std::vector<std::string>> answered) override;

  void set_override(Override set, Duration lasts, base::Deadline deadline,
                    Answered<Override> answered) override;
  void remove_override(Override removed, base::Deadline deadline,
                       Answered<std::optional<Override>> answered) override;
  void list_overrides(std::uint64_t known_version, base::Deadline deadline,
                      Answered<OverrideList> answered) override;
  void append_action(OperatorAction action, Duration lasts, base::Deadline deadline,
                     Answered<bool> answered) override;
  void list_actions(std::size_t most, base::Deadline deadline,
                    Answered<std::vector<OperatorAction>> answered) override;

 private:
  ShardedTable& memory_;
};

}  // namespace penstock::store
